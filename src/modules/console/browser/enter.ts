/* Exchanges the one-time code in the fragment, which browsers send to no server, for a session. */
import { ApiError, postJson } from './api.ts';

const shown = document.getElementById('entering') as HTMLElement; // the page of this script has it
shown.textContent = 'Signing in …';

const code = location.hash.slice(1);
history.replaceState(null, '', location.pathname);

try {
  const { to } = await postJson<{ readonly to: string }>('/console/enter', { code });
  location.replace(to);
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  shown.className = 'problem';
  shown.textContent = error.message;
}
