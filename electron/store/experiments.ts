/** Experiments and their blocks. Each writing method is one transaction on the writer's connection; durable when it returns. */
import { reportExperiment, type BlockPlan, type Side } from '../analysis/experiment.ts';
import { InterlockError } from '../contract/errors.ts';
import type { Scheduler } from '../contract/scheduler.ts';
import type { ExperimentReport } from '../contract/what-if.ts';
import type { Db } from './open.ts';
import { insertProofs, inTransaction } from './queue.ts';
import type { BlockEnd, ExperimentEnd, ExperimentStart, OpenExperiment, ProofSpec } from './types.ts';

interface ExperimentRow {
  id: number;
  experiment: string;
  state: ExperimentReport['state'];
  a: string;
  b: string;
  before: string;
  rounds: number;
  proofs_per_block: number;
  warm_up_proofs: number;
  message: string | null;
}

interface BlockRow {
  round: number;
  side: Side;
  warm_up: number;
  first_proof: number;
  last_proof: number;
  run: string | null;
  s_per_proof: number | null;
  proofs: number;
}

export class Experiments {
  readonly #db: Db;
  readonly #wallMs: () => number;

  constructor(db: Db, wallMs: () => number) {
    this.#db = db;
    this.#wallMs = wallMs;
  }

  create(start: ExperimentStart): { experiment: string } {
    return inTransaction(this.#db, () => {
      const insert = this.#db.prepare(
        `INSERT INTO experiment (experiment, state, a, b, before, rounds, proofs_per_block, warm_up_proofs, started_wall_ms)
         VALUES (?, 'running', ?, ?, ?, ?, ?, ?, ?)`,
      );
      const id = ((this.#db.prepare(`SELECT seq FROM sqlite_sequence WHERE name = 'experiment'`).pluck().get() as number) ?? 0) + 1;
      const experiment = `x${id}`;
      const { a, b, before, rounds, proofsPerBlock, warmUpProofs } = start;
      insert.run(experiment, JSON.stringify(a), JSON.stringify(b), before, rounds, proofsPerBlock, warmUpProofs, this.#wallMs());
      return { experiment };
    });
  }

  /** Queues the block's proofs and notes whose they are, both or neither: after a kill no proof is left that nobody knows. */
  beginBlock(experiment: string, block: BlockPlan, specs: ProofSpec[]): { position: number; proofs: string[] } {
    return inTransaction(this.#db, () => {
      const { id } = this.#need(experiment);
      const added = insertProofs(this.#db, specs, this.#wallMs());
      const position = this.#db.prepare('SELECT count(*) FROM experiment_block WHERE experiment = ?').pluck().get(id) as number;
      this.#db
        .prepare(
          `INSERT INTO experiment_block (experiment, position, round, side, warm_up, first_proof, last_proof) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(id, position, block.round, block.side, block.warmUp ? 1 : 0, added.firstId, added.lastId);
      return { position, proofs: added.proofs };
    });
  }

  endBlock(experiment: string, position: number, end: BlockEnd): void {
    inTransaction(this.#db, () => {
      this.#db
        .prepare('UPDATE experiment_block SET run = ?, s_per_proof = ?, proofs = ? WHERE experiment = ? AND position = ?')
        .run(end.run, end.sPerProof, end.proofs, this.#need(experiment).id, position);
    });
  }

  /** Only one that runs can end; a second end changes nothing. */
  end(experiment: string, end: ExperimentEnd): void {
    inTransaction(this.#db, () => {
      this.#db
        .prepare(`UPDATE experiment SET state = ?, message = ?, ended_wall_ms = ? WHERE id = ? AND state = 'running'`)
        .run(end.state, end.message, this.#wallMs(), this.#need(experiment).id);
    });
  }

  /** Those that no host has ended, with the proofs of theirs that have no end. */
  open(): OpenExperiment[] {
    const rows = this.#db.prepare(`SELECT * FROM experiment WHERE state = 'running' ORDER BY id`).all() as ExperimentRow[];
    const proofs = this.#db
      .prepare(
        `SELECT p.proof FROM proof p JOIN experiment_block b ON p.id BETWEEN b.first_proof AND b.last_proof
         WHERE b.experiment = ? AND p.state IN ('waiting', 'running') ORDER BY p.id`,
      )
      .pluck();
    const round = this.#db.prepare('SELECT max(round) FROM experiment_block WHERE experiment = ?').pluck();
    return rows.map(({ id, experiment, before, rounds }) => ({
      experiment,
      before,
      round: (round.get(id) as number | null) ?? 0,
      rounds,
      proofs: proofs.all(id) as string[],
    }));
  }

  #need(experiment: string): ExperimentRow {
    return needExperiment(this.#db, experiment);
  }
}

function needExperiment(db: Db, experiment: string): ExperimentRow {
  const row = db.prepare('SELECT * FROM experiment WHERE experiment = ?').get(experiment) as ExperimentRow | undefined;
  if (!row) throw new InterlockError('not_found', `There is no experiment ${experiment}.`);
  return row;
}

/** For readers. */
export function readExperiment(db: Db, experiment: string): ExperimentReport {
  const row = needExperiment(db, experiment);
  const blocks = db.prepare('SELECT * FROM experiment_block WHERE experiment = ? ORDER BY position').all(row.id) as BlockRow[];
  // Until a block has ended its run is that of its first proof, if the prover has it already.
  const runOf = db.prepare('SELECT run FROM proof_attempt WHERE proof = (SELECT proof FROM proof WHERE id = ?) ORDER BY attempt LIMIT 1').pluck(); // prettier-ignore
  return reportExperiment({
    experiment: row.experiment,
    state: row.state,
    a: JSON.parse(row.a) as Scheduler,
    b: JSON.parse(row.b) as Scheduler,
    rounds: row.rounds,
    proofs_per_block: row.proofs_per_block,
    warm_up_proofs: row.warm_up_proofs,
    blocks: blocks.map((block) => ({
      round: block.round,
      side: block.side,
      run: block.run ?? (runOf.get(block.first_proof) as string | null | undefined) ?? null,
      s_per_proof: block.s_per_proof,
      proofs: block.proofs,
      warm_up: block.warm_up === 1,
    })),
    message: row.message,
  });
}
