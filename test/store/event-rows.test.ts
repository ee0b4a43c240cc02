/** The layout of an event's row is stored data: held here as a literal. A change needs a migration. */
import { expect, test } from 'vitest';
import { EVENTS, type EventName } from '../../electron/contract/timeline-events.ts';
import { LAYOUTS, packEvent, unpackEvent } from '../../electron/store/event-rows.ts';
import { makeEvent } from '../support/journal.ts';

const describeLayout = (name: EventName) => {
  const { subject, partition, device, worker, a, b, detail } = LAYOUTS[name];
  const parts = [subject && 'proof+attempt', partition && 'partition', device && 'device', worker, a && `a=${a}`, b && `b=${b}`];
  return [...parts.filter((part) => typeof part === 'string'), ...(detail.length > 0 ? [`{${detail.join(' ')}}`] : [])].join(' ');
};

test('every event lies where it always lay', () => {
  expect(Object.fromEntries((Object.keys(EVENTS) as EventName[]).map((name) => [name, describeLayout(name)]))).toEqual({
    hello:
      '{format process pid start_ticks boot_id monotonic_ns wall_ns version engine backend devices grace_ns host_cpus memory_total_bytes}',
    lost: '{ring count t_from t_to}',
    write_failed: '{reason since detail}',
    clock_step: '{wall_ns step_ns}',
    bye: '{reason exit}',
    ready: '',
    run_started: '{run scheduler emulate}',
    run_ended: '{run reason}',
    configure_refused: '{run code message}',
    drain_started: '{reason deadline}',
    drain_cancelled: '{by}',
    host_attached: '{wall_ns}',
    host_lost: '',
    params_load_started: '{circuit bytes}',
    params_generate_started: '{circuit}',
    params_generate_ended: '{circuit ok}',
    params_load_ended: '{circuit ok digest code message}',
    proof_accepted: 'proof+attempt {run circuit partitions constraints priority submitted_wall_ns deadline_wall_ns}',
    permit_asked: 'proof+attempt partition a=bytes',
    permit_granted: 'proof+attempt partition a=bytes b=waited_for',
    permit_released: 'proof+attempt partition a=bytes',
    synthesis_started: 'proof+attempt partition synthesiser',
    synthesis_ended: 'proof+attempt partition synthesiser',
    queued: 'proof+attempt partition',
    picked_up: 'proof+attempt partition device worker',
    lock_asked: 'proof+attempt partition device worker',
    lock_granted: 'proof+attempt partition device worker',
    lock_released: 'proof+attempt partition device worker',
    prepare_started: 'proof+attempt partition device worker',
    prepare_ended: 'proof+attempt partition device worker',
    device_started: 'proof+attempt partition device worker',
    device_ended: 'proof+attempt partition device worker',
    kernel_started: 'proof+attempt partition device worker a=stream b=kernel',
    kernel_ended: 'proof+attempt partition device worker a=stream b=kernel',
    copy_started: 'proof+attempt partition device worker a=stream',
    copy_ended: 'proof+attempt partition device worker a=stream',
    wait_started: 'proof+attempt partition device worker b=wait',
    wait_ended: 'proof+attempt partition device worker b=wait',
    finish_started: 'proof+attempt partition device worker',
    finish_ended: 'proof+attempt partition device worker',
    put_down: 'proof+attempt partition device worker',
    partition_ended: 'proof+attempt partition b=outcome',
    stage_failed: 'proof+attempt partition {stage code message}',
    worker_dead: 'device worker {code message}',
    proof_ended: 'proof+attempt a=bytes b=outcome {sha256 file code message}',
    proof_returned: 'proof+attempt {reason}',
    clock_map: 'device {device_ns error_ns}',
    proof_named: 'proof+attempt {name kind}',
    call_started: 'proof+attempt partition device worker',
    measured: 'proof+attempt partition device worker {durations}',
  });
});

test('every event comes out as it went in', () => {
  const words = new Map<string, number>();
  const attempts = new Map<string, number>();
  const idOf = (map: Map<string, number>, key: string) => map.get(key) ?? (map.set(key, map.size + 1), map.size);
  const keyOf = (map: Map<string, number>, id: number) => [...map].find(([, value]) => value === id)?.[0] ?? '';
  const ids = {
    wordId: (word: string) => idOf(words, word),
    attemptId: (proof: string, attempt: number) => idOf(attempts, `${proof} ${attempt}`),
    word: (id: number) => keyOf(words, id),
    attempt: (id: number) => {
      const [proof = '', attempt] = keyOf(attempts, id).split(' ');
      return { proof, attempt: Number(attempt) };
    },
  };
  for (const name of Object.keys(EVENTS) as EventName[]) {
    const event = makeEvent(name, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    expect(unpackEvent(packEvent(event, ids), ids)).toEqual(event);
  }
  const failed = makeEvent('proof_ended', 1, 1, {
    outcome: 'failed',
    sha256: null,
    file: null,
    bytes: null,
    code: 'panicked',
    message: 'naïve 証明',
  });
  expect(unpackEvent(packEvent(failed, ids), ids)).toEqual(failed);
});
