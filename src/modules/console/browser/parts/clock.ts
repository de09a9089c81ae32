import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { html } from '../../protocol/html.ts';
import { preferences, setPreferences } from '../preferences.ts';
import { serviceTime } from '../service-clock.ts';
import { useStore } from '../store.ts';
import { zoneName } from '../texts/times.ts';
import { Time } from './time.ts';

/** Shows the time of the service, and switches between UTC and the zone of the reader. */
export function Clock(): VNode {
  const { zone } = useStore(preferences);
  const [now, setNow] = useState(() => serviceTime().toISOString());
  useEffect(() => {
    const timer = setInterval(() => setNow(serviceTime().toISOString()), 1000);
    return () => clearInterval(timer);
  }, []);
  const other = zone === 'utc' ? 'local' : 'utc';
  const label = `Times are in ${zoneName(zone)}. Show them in ${zoneName(other)}`;
  return html`<button type="button" class="clock" title=${label} onClick=${() => setPreferences({ zone: other })}>
    <${Time} at=${now} isShort />
  </button>`;
}
