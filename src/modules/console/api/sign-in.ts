import type { ComponentChild } from 'preact';
import { AdminCommands } from '../../../deposits/admin-commands.ts';
import { addressOf } from '../../../http/middleware/credentials.ts';
import type { ServiceContext } from '../../../http/service-context.ts';
import { SwordError } from '../../../sword/sword-error.ts';
import { html } from '../protocol/html.ts';
import { pathPattern } from '../protocol/path-pattern.ts';
import { SCREENS } from '../protocol/screens.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { answerPage, outsidePage, seeOther } from '../server/page.ts';
import { ConsoleRefusal, type Route, type RouteRequest, type ViewerRequest } from '../server/route.ts';

/** Milliseconds to wait until the view shows the end of sessions. */
const VIEW_TIMEOUT_MS = 5000;

const OVERVIEW = '/console/';
/** The cookie with the page that was asked for: a terminal opens the link to sign in elsewhere than on that page. */
const ASKED = 'deposit-console-to';
/** Seconds for which a browser keeps it. */
const MAX_ASKED_SECONDS = 600;

/** Returns the ways in and out. */
export function signInRoutes(parts: ConsoleParts): readonly Route[] {
  const { assets, codes, credentials, isHttps, sessions, log, projector, trustProxy } = parts;
  return [
    { method: 'GET', path: '/console/sign-in', permission: 'public', answer: showForm },
    { method: 'POST', path: '/console/sign-in', permission: 'public', isForm: true, answer: signInClient },
    { method: 'GET', path: '/console/enter', permission: 'public', answer: showEntering },
    { method: 'POST', path: '/console/enter', permission: 'public', answer: enter },
    {
      method: 'POST',
      path: '/console/api/sign-out',
      permission: 'session',
      isForm: true,
      answer: ({ ctx }) => end(ctx),
    },
    {
      method: 'POST',
      path: '/console/api/end-sessions',
      permission: 'session',
      isForm: true,
      answer: endSessions,
    },
  ];

  function showForm({ ctx, query }: RouteRequest): void | Promise<void> {
    const to = targetIn(query.get('to'));
    if (sessions.viewerOf(ctx)) return seeOther(ctx, to);
    setAsked(ctx, to);
    return answerPage(ctx, assets, { title: 'Sign in', content: signInForm(to) });
  }

  function showEntering({ ctx }: RouteRequest): Promise<void> {
    const content = outsidePage(html`
      <p id="entering" role="status"></p>
      <noscript><p class="problem">The console needs JavaScript: switch it on, and open the link again.</p></noscript>
    `);
    return answerPage(ctx, assets, { title: 'Sign in', scripts: ['enter.ts'], content });
  }

  /** Lets the browser keep the page to continue at; with the overview, it keeps none. */
  function setAsked(ctx: ServiceContext, to = OVERVIEW): void {
    const [value, seconds] =
      to === OVERVIEW ? ['', 0] : [Buffer.from(to).toString('base64url'), MAX_ASKED_SECONDS];
    const secure = isHttps ? '; Secure' : '';
    const attributes = `Path=/console/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${secure}`;
    ctx.append('Set-Cookie', `${ASKED}=${value}; ${attributes}`);
  }

  /** Signs the person in whom the code of a link is for. Resolves to the page to continue at. */
  async function enter({ ctx, body }: RouteRequest): Promise<{ readonly to: string }> {
    const { code } = body as { readonly code?: unknown };
    const redeemed = typeof code === 'string' ? await codes.redeem(code) : undefined;
    if (!redeemed || !sessions.beginOfPerson(ctx, redeemed)) {
      const text =
        'The link was used before, is older than a minute, than the start of this node or than the end of your sessions, or is of a node with another key. Run the command again for a new one.';
      throw new ConsoleRefusal(401, 'BAD_CODE', text);
    }
    setAsked(ctx);
    return { to: targetIn(Buffer.from(ctx.cookies.get(ASKED) ?? '', 'base64url').toString()) };
  }

  function end(ctx: ServiceContext): void {
    sessions.end(ctx);
    seeOther(ctx, '/console/sign-in');
  }

  async function endSessions({ ctx, viewer: { kind, name } }: ViewerRequest): Promise<void> {
    if (kind === 'client') {
      const text =
        'The sessions of a client end when its password changes: deposit-service client passwd NAME.';
      throw new ConsoleRefusal(409, 'NOT_A_PERSON', text);
    }
    const administration = new AdminCommands(log, { kind, name });
    const position = await administration.person({ type: 'EndSessions', person: name });
    await projector.passed(position, VIEW_TIMEOUT_MS);
    end(ctx);
  }

  async function signInClient({ ctx, body }: RouteRequest): Promise<void> {
    const { name = '', password = '', to = '' } = body as Readonly<Record<string, string>>; // fields of a form
    const header = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
    try {
      if (name.includes(':')) throw new SwordError('Unauthorized', 'Unknown client or wrong password.');
      const login = await credentials.verify(header, addressOf(ctx, trustProxy));
      sessions.beginOfClient(ctx, login.client, login.credentialRevision);
      setAsked(ctx);
      seeOther(ctx, targetIn(to));
    } catch (error) {
      if (!(error instanceof SwordError) || !['Unauthorized', 'TooManyRequests'].includes(error.code))
        throw error;
      ctx.status = error.code === 'Unauthorized' ? 401 : 429;
      await answerPage(ctx, assets, { title: 'Sign in', content: signInForm(to, name, error.message) });
    }
  }
}

/** Returns the page to continue at: only one of the console, whatever the text says. */
function targetIn(to: string | null): string {
  const host = 'http://console.invalid';
  const url = URL.parse(to ?? '', host);
  const isPage = url?.origin === host && SCREENS.some(({ path }) => pathPattern(path).test(url.pathname));
  return isPage ? url.pathname + url.search : OVERVIEW;
}

function signInForm(to: string, name = '', problem?: string): ComponentChild {
  return outsidePage(html`
    ${problem !== undefined && html`<p class="problem" role="alert">${problem}</p>`}
    <form method="post" action="/console/sign-in">
      <h2>Depositors</h2>
      <input type="hidden" name="to" value=${to} />
      <label>Client <input name="name" value=${name} required autocomplete="username" /></label>
      <label>Password <input name="password" type="password" required autocomplete="current-password" /></label>
      <button class="primary">Sign in</button>
    </form>
    <section>
      <h2>Operators and auditors</h2>
      <p>Run this where the service runs, and open the link that it prints:</p>
      <pre><code>npx deposit-service console</code></pre>
    </section>
  `);
}
