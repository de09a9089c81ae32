/** A drill as `npm run drills` runs it. */
export type PlannedDrill = {
  /** Name of its file in `drills/`. */
  readonly name: string;
  /** One sentence: what it does to the service. */
  readonly what: string;
  readonly full: readonly string[];
  /** `null`: it has no form of a few seconds. */
  readonly short: readonly string[] | null;
  /** Seconds after which it is killed and counts as broken: of the full form and of the short one. */
  readonly limit: readonly [full: number, short: number];
};

const SHORT = ['--short'];

/** All drills in the order in which they run. Together they take at most forty minutes, their short forms five. */
export const PROGRAMME: readonly PlannedDrill[] = [
  {
    name: 'kill-under-load',
    what: 'Kills the service 200 times at random moments under four writers.',
    full: ['--longest', '300'],
    short: SHORT,
    limit: [900, 60],
  },
  {
    name: 'kill-at-points',
    what: 'Kills the service at each sync, rename and write of a create, one after the other.',
    full: ['--most', '5'],
    short: SHORT,
    limit: [600, 60],
  },
  {
    name: 'lost-answers',
    what: 'Sends the same create again and again with one Idempotency-Key and kills the service before each answer.',
    full: ['--rounds', '2'],
    short: null,
    limit: [300, 0],
  },
  {
    name: 'resumable-kills',
    what: 'Kills the service under clients of resumable uploads.',
    full: ['--kills', '15'],
    short: null,
    limit: [300, 0],
  },
  {
    name: 'kill-commands',
    what: 'Kills rebuild, backup, migrate, gc and verify and runs each again.',
    full: ['--kills', '2', '--deposits', '100'],
    short: null,
    limit: [300, 0],
  },
  {
    name: 'sigterm-under-load',
    what: 'Stops the service in good order under load, with uploads and event streams open.',
    full: ['--rounds', '3'],
    short: SHORT,
    limit: [300, 60],
  },
  {
    name: 'two-on-one-folder',
    what: 'Starts a second service on the data folder of a running one.',
    full: [],
    short: SHORT,
    limit: [300, 60],
  },
  {
    name: 'clock-set-back',
    what: 'Sets the clock back an hour while the service runs, and starts it again.',
    full: [],
    short: null,
    limit: [300, 0],
  },
  {
    name: 'flip-bytes',
    what: 'Changes single bytes of all that is kept, and has verify name each.',
    full: ['--deposits', '100', '--flips', '12'],
    short: null,
    limit: [300, 0],
  },
  {
    name: 'flip-wal',
    what: 'Changes single bits of the write-ahead log that a killed service left, and starts the service on it.',
    full: ['--flips', '25'],
    short: SHORT,
    limit: [300, 60],
  },
  {
    name: 'two-and-two',
    what: 'Kills reactor nodes and takes the log away from a cluster of four nodes.',
    full: ['--deposits', '150', '--kill-reactors', '3', '--log-down', '4'],
    short: null,
    limit: [300, 0],
  },
  {
    name: 'webhook-outage',
    what: 'Takes the receiver of a webhook away in the middle of a run, and kills the service.',
    full: ['--deposits', '40', '--outage', '10', '--kills', '2'],
    short: null,
    limit: [300, 0],
  },
  {
    name: 'resumable-gigabyte',
    what: 'Brings 1 GiB in by connections that break, with a kill on the way.',
    full: [],
    short: null,
    limit: [300, 0],
  },
  {
    name: 'fsync-order',
    what: 'Looks with strace whether creates are answered only after their bytes and events are on the disk.',
    full: [],
    short: SHORT,
    limit: [300, 60],
  },
  {
    name: 'failing-writes',
    what: 'Has the n-th write, sync, rename or mkdir of every file fail, for every n.',
    full: [],
    short: SHORT,
    limit: [300, 60],
  },
  {
    name: 'failing-io',
    what: 'Has the n-th call of each kind on any file fail, for every n, in the service and in commands.',
    full: [],
    short: SHORT,
    limit: [14_400, 120],
  },
  {
    name: 'power-cuts',
    what: 'Starts the service and commands on what a power cut after each of their calls leaves.',
    full: [],
    short: SHORT,
    limit: [14_400, 120],
  },
  {
    name: 'full-disk',
    what: 'Fills the disk of the log, of the archives and of both under load, and makes room again.',
    full: [],
    short: null,
    limit: [300, 0],
  },
  {
    name: 'client-aborts',
    what: 'Breaks uploads of every kind off after each twentieth of their bodies.',
    full: [],
    short: SHORT,
    limit: [300, 60],
  },
  {
    name: 'slow-clients',
    what: 'Has 200 clients be slow beside normal load.',
    full: [],
    short: SHORT,
    limit: [300, 60],
  },
  {
    name: 'unread-answers',
    what: 'Has a client ask for 1,200 long lists and read nothing of them.',
    full: [],
    short: SHORT,
    limit: [300, 120],
  },
  {
    name: 'wrong-passwords',
    what: 'Tries 64 wrong passwords at a time for 30 seconds beside deposits of 1 MiB.',
    full: [],
    short: null,
    limit: [300, 0],
  },
  {
    name: 'unbounded-reads',
    what: 'Reads large directories, 160 requests at a time, beside the status reads of another client.',
    full: [],
    short: SHORT,
    limit: [300, 120],
  },
  {
    name: 'bombs-beside',
    what: 'Deposits eight archive bombs at once beside a normal archive.',
    full: [],
    short: SHORT,
    limit: [300, 60],
  },
  {
    name: 'long-queue',
    what: 'Has one client bring a hundred large archives and another small ones meanwhile.',
    full: [],
    short: SHORT,
    limit: [300, 60],
  },
  {
    name: 'engines-away',
    what: 'Takes the event log and the archive store of nodes away: refused, reset, silent, slow.',
    full: [],
    short: null,
    limit: [300, 0],
  },
  {
    name: 'log-restarts',
    what: 'Restarts the event log while no reactor node is connected and deposits wait.',
    full: [],
    short: SHORT,
    limit: [300, 120],
  },
  {
    name: 'log-and-reactors-killed',
    what: 'Kills the event log and all reactor nodes during long checks.',
    full: [],
    short: SHORT,
    limit: [600, 120],
  },
  {
    name: 'leader-partitioned',
    what: 'Cuts the leader of three event log servers off from the others, under load.',
    full: [],
    short: SHORT,
    limit: [300, 120],
  },
  {
    name: 'quorum-lost',
    what: 'Takes the quorum of three event log servers away, under load.',
    full: [],
    short: SHORT,
    limit: [300, 120],
  },
  {
    name: 'store-restarts',
    what: 'Kills MinIO and starts it again under load, with archives of 1 kB to 30 MB.',
    full: [],
    short: SHORT,
    limit: [900, 300],
  },
  {
    name: 'histories',
    what: 'Checks the histories of deposits under concurrent clients and faults for linearizability.',
    full: [],
    short: SHORT,
    limit: [1200, 240],
  },
  {
    name: 'flipped-bits',
    what: 'Flips a bit in eight objects of one client, and looks whether the deposits of others go on.',
    full: [],
    short: SHORT,
    limit: [600, 180],
  },
  {
    name: 'store-power-cut',
    what: 'Cuts the power of a store that loses what it acknowledged last, before and during load.',
    full: [],
    short: SHORT,
    limit: [900, 240],
  },
  {
    name: 'rolling-upgrade',
    what: 'Upgrades four nodes one by one from an older release under load, goes back, and upgrades again.',
    full: [],
    short: null,
    limit: [900, 0],
  },
  {
    name: 'mutation-fuzzing',
    what: 'Changes bytes of small archives at random and has each read.',
    full: [],
    short: SHORT,
    limit: [300, 60],
  },
  {
    name: 'mutations',
    what: 'Puts known defects into a copy of the project, one at a time, and looks whether the simulation or a test finds each.',
    full: ['--seconds', '300'],
    short: null,
    limit: [3600, 0],
  },
  {
    name: 'secrets-scan',
    what: 'Looks for passwords and traces in all that the drills before it left behind.',
    full: [],
    short: SHORT,
    limit: [300, 60],
  },
];
