/**
 * State of the Live screen. The model takes every message at once; the lanes read it at the screen's rate; what is text follows at most
 * twice a second. Pause holds the view on a frozen copy while the model goes on; a lost connection holds it where it was.
 */
import type { Lane, LiveFigures, LiveProof } from '../../electron/contract/live.ts';
import type { Timer } from '../../electron/contract/clock.ts';
import type { Scheduler } from '../../electron/contract/scheduler.ts';
import type { HostLink, RunMessage } from '../link/host-link.svelte.ts';
import { FlowClock } from './flow-clock.ts';
import { LiveModel, type LivePicture } from './live-model.ts';
import { PredictionAsker } from './prediction.svelte.ts';
import { computeVerdict, currentAct, type Prediction, type Verdict } from './verdict.ts';

export const TEXT_EVERY_MS = 500;
/** Proofs that ended stay in the list this many at a time. */
const ENDED_ON_SHOW = 8;

/** What the screen says in words and numbers. */
export interface LiveText {
  run: string;
  lanes: readonly Lane[];
  figures: LiveFigures | null;
  verdict: Verdict | null;
  /** Under way first, in order of acceptance; then the newest ended. */
  proofs: readonly LiveProof[];
  elapsedNs: number;
  horizonNs: number;
  endedNs: number | null;
}

export class LiveController {
  text = $state.raw<LiveText | null>(null);
  /** Whether the host has said that there is a run or none. */
  known = $state(false);
  paused = $state(false);
  windowNs = $state(60e9);
  /** Devices that the reader folded or unfolded, against what the layout does on its own. */
  flipped = $state.raw<ReadonlySet<string>>(new Set());
  readonly stale = $derived.by(() => this.#link.connection !== 'open');

  #link: HostLink;
  #model = new LiveModel();
  #flow = new FlowClock();
  #frozen: { picture: LivePicture; nowNs: number } | null = null;
  /** Where the view stood when the connection was lost. */
  #heldNs: number | null = null;
  #timer: Timer | null = null;
  #shown: [version: number, prediction: Prediction | null] = [-1, null];
  #asker: PredictionAsker;
  /** The status forgets a run that ended; its scheduler still explains it. */
  #scheduler: { run: string; scheduler: Scheduler } | null = null;
  #leave: () => void;

  constructor(link: HostLink) {
    this.#link = link;
    this.#asker = new PredictionAsker(link);
    this.#leave = link.onRun((message) => this.#receive(message));
    this.#beat();
  }

  dispose(): void {
    this.#leave();
    this.#timer?.cancel();
  }

  /** Freezes the view, never the run. */
  togglePause(): void {
    if (this.paused) {
      this.#frozen = null;
      this.paused = false;
      this.#refresh();
      return;
    }
    if (this.#model.run === null) return;
    this.#frozen = { picture: this.#model.freeze(), nowNs: this.#currentNs() };
    this.paused = true;
  }

  flip(device: string): void {
    const flipped = new Set(this.flipped);
    if (!flipped.delete(device)) flipped.add(device);
    this.flipped = flipped;
  }

  /** What to draw now, and the run's time to draw it at. */
  frame(): { picture: LivePicture; nowNs: number } {
    return this.#frozen ?? { picture: this.#model, nowNs: this.#currentNs() };
  }

  #currentNs(): number {
    if (this.#model.endedNs !== null) return this.#model.endedNs;
    if (this.#link.connection !== 'open') return (this.#heldNs ??= this.#flow.read(this.#link.clock.nowNs()));
    this.#heldNs = null;
    return this.#flow.read(this.#link.clock.nowNs());
  }

  #receive(message: RunMessage): void {
    const before = this.#model.run;
    if (this.#model.apply(message) === 'missed') {
      this.#link.resubscribe();
      return;
    }
    if (this.#model.run !== before) {
      this.#flow.reset();
      this.#frozen = null;
      this.paused = false;
      this.#asker.forget();
    }
    if (this.#model.run !== null) this.#flow.set(this.#model.nowNs, this.#link.clock.nowNs());
    // The first picture comes at once; the rest waits for the beat.
    if (!this.known || (this.#model.run ?? null) !== (this.text?.run ?? null)) this.#refresh();
    this.known = true;
  }

  #schedulerOf(run: string): Scheduler | null {
    const current = this.#link.status?.run;
    if (current?.run === run) this.#scheduler = { run, scheduler: current.scheduler };
    return this.#scheduler?.run === run ? this.#scheduler.scheduler : null;
  }

  #beat(): void {
    this.#timer = this.#link.clock.after(TEXT_EVERY_MS, () => {
      if (!this.paused && !this.stale) this.#refresh();
      this.#beat();
    });
  }

  #refresh(): void {
    const model = this.#model;
    if (model.run === null) {
      if (this.text !== null) this.text = null;
      return;
    }
    // A run that ended stays as it was.
    const { prediction } = this.#asker;
    if (model.endedNs !== null && this.#shown[0] === model.version && this.#shown[1] === prediction) return;
    this.#shown = [model.version, prediction];
    const { figures } = model;
    const scheduler = this.#schedulerOf(model.run);
    this.#asker.consider(
      model.run,
      figures ? figures.counts.valid + figures.counts.invalid + figures.counts.failed : 0,
      currentAct(figures, scheduler),
    );
    const ended = model.proofs.filter((proof) => proof.endedNs !== null);
    this.text = {
      run: model.run,
      lanes: model.lanes.length === this.text?.lanes.length && this.text.run === model.run ? this.text.lanes : [...model.lanes],
      figures,
      verdict: computeVerdict(model, scheduler, prediction),
      proofs: [...model.proofs.filter((proof) => proof.endedNs === null), ...ended.slice(-ENDED_ON_SHOW).reverse()],
      elapsedNs: this.#currentNs(),
      horizonNs: model.horizonNs,
      endedNs: model.endedNs,
    };
  }
}
