/** Entry of the page: picks the transport that this surrounding offers, opens the link, draws the shell. */
import { mount } from 'svelte';
import App from './app/App.svelte';
import { HostLink } from './link/host-link.svelte.ts';
import { page } from './link/page.ts';
import { browserSurroundings, createWebTransport } from './link/web-link.ts';
import { getWindowTransport } from './link/window-link.ts';
import './shared/tokens.css';
import './shared/cause-tokens.css';
import './shared/base.css';
import './shared/table.css';

const link = new HostLink(getWindowTransport() ?? createWebTransport(browserSurroundings()), page.clock);
const target = document.getElementById('app');
if (target) mount(App, { target, props: { link, page } });
link.open();
