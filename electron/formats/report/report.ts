import type { Gap, IdleReport } from '../../contract/idle.ts';
import type { RunReport } from '../../contract/run-report.ts';
export interface ReportInput { run: RunReport; idle: IdleReport; gaps: readonly Gap[]; versions: readonly string[]; isRedacted: boolean }
export function renderReport(_input: ReportInput): string { return ''; }
