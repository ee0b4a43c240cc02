import type { ProofSpec } from '../../electron/store/types.ts';

export const SPEC: ProofSpec = {
  circuit: 'squarings-1000',
  partitions: 2,
  priority: 2,
  submittedWallNs: '1796043668729000001',
  deadlineWallNs: null,
  seed: '00'.repeat(32),
};
