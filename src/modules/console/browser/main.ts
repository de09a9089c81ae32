import { render } from 'preact';
import type { Boot } from '../protocol/boot.ts';
import { html } from '../protocol/html.ts';
import { App } from './app.ts';

const root = document.getElementById('app');
if (root) {
  const boot = JSON.parse(root.dataset['boot'] ?? '') as Boot; // written by the server
  root.replaceChildren();
  render(html`<${App} boot=${boot} />`, root);
}
