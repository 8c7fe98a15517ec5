import type { BackgroundCommand, BackgroundNews, ToolResult } from '@holdfast/core/ports'
import { clip, escapeLine } from '@holdfast/protocol'
import { type CommandJudge, withViolations } from './bounded-command.ts'
import type { CommandRecord } from './command-records.ts'
import { type EndedCommand, howEnded, type RunningCommand } from './running-command.ts'

/** A command in the background of a session. It is kept after its end, so that its output can be read. */
export type BackgroundShell = BackgroundCommand & {
  readonly running: RunningCommand
  /** Null while it runs. */
  ended: (EndedCommand & { readonly atMs: number }) | null
  /** How much of the output was returned by `shell_output`. */
  readBytes: number
  /** Whether the model knows that it has ended. */
  isEndTold: boolean
  /** Its record on disk until then; null if none is kept. */
  readonly record: CommandRecord | null
  /** Notes that the model knows of its end. */
  readonly endTold: () => void
  /** What it changed outside edit boundaries, as far as the model was not told. */
  violations: readonly string[]
  /** Finds out what it did to files with edit boundaries since the last time. */
  readonly judge: () => Promise<void>
  /** Resolves once it has ended, is judged, and what it changed is recorded. */
  readonly judged: Promise<void>
  readonly judging: CommandJudge
}

/** Tells the model what a command changed outside edit boundaries, and whether it has ended. The first call that reads it does so. */
export async function tellShell(shell: BackgroundShell, result: ToolResult): Promise<ToolResult> {
  if (shell.ended !== null) await shell.judged
  if (shell.ended !== null) shell.endTold()
  const { violations } = shell
  shell.violations = []
  return withViolations(result, violations)
}

/** Says what the model does not know: which commands have ended, and what they changed outside edit boundaries. */
export function newsOf(
  shells: readonly BackgroundShell[],
  gone: readonly CommandRecord[],
  goneTold: () => void,
): BackgroundNews | null {
  const untold = shells.filter(({ ended, isEndTold, violations }) => (ended && !isEndTold) || violations.length > 0)
  if (untold.length === 0 && gone.length === 0) return null
  const known = untold.map((shell) => ({ shell, violations: shell.violations, hasEnded: shell.ended !== null }))
  return {
    text: [...gone.map(goneText), ...untold.map(newsText)].join('\n'),
    isBreach: untold.some(({ violations }) => violations.length > 0),
    told() {
      goneTold()
      for (const { shell, violations, hasEnded } of known) {
        if (hasEnded) shell.endTold()
        shell.violations = shell.violations.filter((one) => !violations.includes(one))
      }
    },
  }
}

/** How much of a command is recorded and told. */
export const commandCharsMax = 200

const nameText = (id: string, command: string): string =>
  `The command ${id} in the background (${clip(escapeLine(command), commandCharsMax)})`

const goneText = ({ id, command }: CommandRecord): string =>
  `${nameText(id, command)} has ended: its session, or the process that ran it, was stopped. Its output is lost. Start it again if it is needed.`

/** Nothing that the command printed is told here: it would look as if a person had said it. */
function newsText({ id, command, startedAt, ended, isEndTold, violations }: BackgroundShell): string {
  const name = nameText(id, command)
  const lines: string[] = []
  if (ended !== null && !isEndTold) {
    const seconds = Math.max(0, Math.round((ended.atMs - startedAt) / 1000))
    const how = howEnded(ended.ending)
    lines.push(
      `${name} has ended: ${how}, after ${seconds} s, with ${ended.bytes} bytes of output. Read it with shell_output.`,
    )
  }
  for (const violation of violations)
    lines.push(`${name} changed lines that it may not change: ${violation.split('\n', 1)[0] ?? ''}`)
  return lines.join('\n')
}
