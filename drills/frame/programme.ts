/** A drill as `npm run drills` runs it. */
export type PlannedDrill = {
  /** Name of its file in `drills/`. */
  readonly name: string;
  /** One sentence: what it does to the service. */
  readonly what: string;
  /** Arguments of the full form. */
  readonly args?: readonly string[];
  /** Seconds after which the full form is killed and counts as broken; 300 unless given. */
  readonly limit?: number;
  /** Seconds for the form of a few seconds; a drill without this limit has no such form. */
  readonly shortLimit?: number;
};

/** All drills in the order in which they run. Together they take at most forty minutes, their short forms five. */
export const PROGRAMME: readonly PlannedDrill[] = [
  {
    name: 'kill-under-load',
    what: 'Kills the service 200 times at random moments under four writers.',
    args: ['--longest', '300'],
    limit: 900,
    shortLimit: 60,
  },
  {
    name: 'kill-at-points',
    what: 'Kills the service at each sync, rename and write of a create, one after the other.',
    args: ['--most', '5'],
    limit: 600,
    shortLimit: 60,
  },
  {
    name: 'lost-answers',
    what: 'Sends the same create again and again with one Idempotency-Key and kills the service before each answer.',
    args: ['--rounds', '2'],
  },
  {
    name: 'resumable-kills',
    what: 'Kills the service under clients of resumable uploads.',
    args: ['--kills', '15'],
  },
  {
    name: 'kill-commands',
    what: 'Kills rebuild, backup, migrate, gc and verify and runs each again.',
    args: ['--kills', '2', '--deposits', '100'],
  },
  {
    name: 'new-nodes-killed',
    what: 'Kills a service while it stores a snapshot of its views, and new ones while they begin with it.',
    args: ['--kills', '15'],
    shortLimit: 90,
  },
  {
    name: 'sigterm-under-load',
    what: 'Stops the service in good order under load, with uploads and event streams open.',
    args: ['--rounds', '3'],
    shortLimit: 60,
  },
  {
    name: 'two-on-one-folder',
    what: 'Starts a second service on the data folder of a running one.',
    shortLimit: 60,
  },
  {
    name: 'clock-set-back',
    what: 'Sets the clock back an hour while the service runs, and starts it again.',
  },
  {
    name: 'flip-bytes',
    what: 'Changes single bytes of all stored data, and has verify name each.',
    args: ['--deposits', '100', '--flips', '12'],
  },
  {
    name: 'flip-wal',
    what: 'Changes single bits of the write-ahead log that a killed service left, and starts the service on it.',
    args: ['--flips', '25'],
    shortLimit: 60,
  },
  {
    name: 'two-and-two',
    what: 'Kills reactor nodes and takes the log away from a cluster of four nodes.',
    args: ['--deposits', '150', '--kill-reactors', '3', '--log-down', '4'],
  },
  {
    name: 'webhook-outage',
    what: 'Stops the receiver of a webhook in the middle of a run, and kills the service.',
    args: ['--deposits', '40', '--outage', '10', '--kills', '2'],
  },
  {
    name: 'resumable-gigabyte',
    what: 'Uploads 1 GiB over connections that fail, with a kill on the way.',
  },
  {
    name: 'fsync-order',
    what: 'Checks with strace that creates are answered only after their bytes and events are on the disk.',
    shortLimit: 60,
  },
  {
    name: 'failing-writes',
    what: 'Has the n-th write, sync, rename or mkdir of every file fail, for every n.',
    limit: 600,
    shortLimit: 60,
  },
  {
    name: 'failing-io',
    what: 'Has the n-th call of each kind on any file fail, for every n, in the service and in commands.',
    limit: 14_400,
    shortLimit: 120,
  },
  {
    name: 'power-cuts',
    what: 'Starts the service and commands on what a power cut after each of their calls leaves.',
    limit: 14_400,
    shortLimit: 120,
  },
  {
    name: 'full-disk',
    what: 'Fills the disk of the log, of the archives and of both under load, and frees space again.',
  },
  {
    name: 'client-aborts',
    what: 'Aborts uploads of every kind after each twentieth of their bodies.',
    shortLimit: 60,
  },
  {
    name: 'slow-clients',
    what: 'Connects 200 slow clients during normal load.',
    shortLimit: 60,
  },
  {
    name: 'unread-answers',
    what: 'Has a client ask for 1,200 long lists and read nothing of them.',
    shortLimit: 120,
  },
  {
    name: 'wrong-passwords',
    what: 'Tries 64 wrong passwords at a time for 30 seconds during deposits of 1 MiB.',
  },
  {
    name: 'unbounded-reads',
    what: 'Reads large directories, 160 requests at a time, during the status reads of another client.',
    shortLimit: 120,
  },
  {
    name: 'bombs-beside',
    what: 'Deposits eight archive bombs at once with a normal archive.',
    shortLimit: 60,
  },
  {
    name: 'long-queue',
    what: 'Has one client deposit a hundred large archives and another small ones meanwhile.',
    shortLimit: 60,
  },
  {
    name: 'engines-away',
    what: 'Takes the event log and the archive store of nodes away: refused, reset, silent, slow.',
  },
  {
    name: 'log-restarts',
    what: 'Restarts the event log while no reactor node is connected and deposits wait.',
    shortLimit: 120,
  },
  {
    name: 'log-and-reactors-killed',
    what: 'Kills the event log and all reactor nodes during long checks.',
    limit: 600,
    shortLimit: 120,
  },
  {
    name: 'leader-partitioned',
    what: 'Cuts the leader of three event log servers off from the others, under load.',
    shortLimit: 120,
  },
  {
    name: 'quorum-lost',
    what: 'Takes the quorum of three event log servers away, under load.',
    shortLimit: 120,
  },
  {
    name: 'store-restarts',
    what: 'Kills MinIO and starts it again under load, with archives of 1 kB to 30 MB.',
    limit: 900,
    shortLimit: 300,
  },
  {
    name: 'histories',
    what: 'Checks the histories of deposits under concurrent clients and faults for linearizability.',
    limit: 1200,
    shortLimit: 240,
  },
  {
    name: 'flipped-bits',
    what: 'Flips a bit in eight objects of one client, and checks that the deposits of others continue.',
    limit: 600,
    shortLimit: 180,
  },
  {
    name: 'store-power-cut',
    what: 'Cuts the power of a store that loses what it acknowledged last, before and during load.',
    limit: 900,
    shortLimit: 240,
  },
  {
    name: 'rolling-upgrade',
    what: 'Upgrades four nodes one by one from an older release under load, goes back, and upgrades again.',
    limit: 900,
  },
  {
    name: 'mutation-fuzzing',
    what: 'Changes bytes of small archives at random and has each read.',
    shortLimit: 60,
  },
  {
    name: 'mutations',
    what: 'Puts known defects into a copy of the project, one at a time, and checks that the simulation or a test finds each.',
    args: ['--seconds', '300'],
    limit: 3600,
  },
  {
    name: 'secrets-scan',
    what: 'Searches the output of the earlier drills for passwords and stack traces.',
    shortLimit: 60,
  },
];
