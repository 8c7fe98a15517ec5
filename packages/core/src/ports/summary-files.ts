import type { Result } from '@holdfast/protocol'

/** Notes the session writes into its workdir for people, beside what its tools do. */
export interface SummaryFiles {
  /** Writes a note under a name made of the date and the title, never over another. Returns its path in the workdir. */
  save(workdir: string, title: string, text: string): Promise<Result<string>>
}
