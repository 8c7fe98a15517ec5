import type { ToolContext } from '@holdfast/core/ports'
import { ok, type Result } from '@holdfast/protocol'

/** Whether rules deny a path of the workdir. With many rules and paths it takes several slices. */
export type DeniedTest = (path: string) => boolean | Promise<boolean>

/** Says what the rules of the user and of a session keep tools from reading. */
export type ReadRules = {
  /** Returns whether a path is denied to a tool that finds paths itself; null if no rule can. Refused if rules cannot be read. */
  readonly deniedTest: (
    tool: string,
    context: Pick<ToolContext, 'workdir' | 'permissions'>,
  ) => Promise<Result<DeniedTest | null>>
}

/** For tools that run without rules. */
export const noReadRules: ReadRules = { deniedTest: async () => ok(null) }

/** Says how many paths a result is without. */
export const leftOutNote = (count: number): string =>
  `${count === 1 ? '1 path was' : `${count} paths were`} left out by a deny rule`
