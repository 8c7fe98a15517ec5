import type { LaterRun, ToolContext, ToolResult, ToolRun } from '@holdfast/core/ports'
import type { FileChange } from '@holdfast/protocol'

/** Finds out which files commands change. */
export interface TouchedFiles {
  /** Remembers the files before a command starts. Null if that cannot be found out here. */
  capture(context: ToolContext, run: Pick<ToolRun, 'signal'>): Promise<CapturedFiles | null>
}

/** The files as they were when a command started. */
export interface CapturedFiles {
  /** Adds what has changed since then to the result of a command that has ended. */
  addTo(result: ToolResult, context: ToolContext, run: ToolRun): Promise<ToolResult>
  /**
   * Returns what has changed until the end of a command in the background, each marked `during`, besides the files that are
   * known already. What other calls of the session left as it is now is theirs.
   */
  findLater(known: readonly FileChange[], context: ToolContext, run: LaterRun): Promise<readonly FileChange[]>
}
