import { render } from 'preact';
import type { Boot } from '../protocol/boot.ts';
import { html } from '../protocol/html.ts';
import { setViewer } from './api.ts';
import { App } from './app.ts';
import { setServiceClock } from './service-clock.ts';

const root = document.getElementById('app');
if (root) {
  const boot = JSON.parse(root.dataset['boot'] ?? '') as Boot; // written by the server
  setViewer(boot.viewer);
  setServiceClock(boot.service.time);
  root.replaceChildren();
  render(html`<${App} boot=${boot} />`, root);
}
