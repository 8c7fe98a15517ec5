import type { Clock, Tool } from '@holdfast/core/ports'
import { ok } from '@holdfast/protocol'
import { z } from 'zod'
import { resolveWorkdir } from '../../system/files/resolve-path.ts'
import { wallClock } from '../../system/wall-clock.ts'
import { textArgument } from '../define/arguments.ts'
import { abortedResult, begun, defineTool, failedWith } from '../define/define-tool.ts'
import { type BackgroundShell, tellShell } from './background-shell.ts'
import type { BackgroundShells } from './background-shells.ts'
import { onlyLinesWith } from './output/only-lines.ts'
import { readableOutput } from './output/readable-output.ts'
import { howEnded } from './running-command.ts'
import { withNotes } from './shell.ts'

const waitMax = 60
const lookMs = 50

export const shellId = textArgument.min(1, 'must not be empty').max(100, 'must be an id that shell returned')

const input = z.strictObject({
  id: shellId.describe('The id that shell returned.'),
  filter: textArgument
    .min(1, 'must not be empty')
    .max(1000, 'must not be longer than 1000 characters')
    .optional()
    .describe('Returns only lines that contain this text. The other new lines count as read.'),
  wait: z
    .int({ error: 'must be a whole number of seconds' })
    .min(0, 'must be at least 0 seconds')
    .max(waitMax, `must be at most ${waitMax} seconds`)
    .default(0)
    .describe(`Seconds to wait for new output or the end, at most ${waitMax}. Default 0.`),
})

type Deps = { readonly background: BackgroundShells; readonly after?: Clock['after'] | undefined }

/** Creates the tool that reads what a command in the background has printed since the last read. */
export function createShellOutput({ background, after = wallClock.after }: Deps): Tool {
  return defineTool({
    name: 'shell_output',
    description:
      'Returns what a command in the background has printed since the last read, and whether it still runs. Long output is cut in the middle; the whole is kept.',
    input,
    changes: 'nothing',

    async preview(args, { workdir, session }) {
      const cwd = await resolveWorkdir(workdir)
      if (!cwd.ok) return cwd
      const found = background.find(session, args.id)
      return found.ok ? ok({ preview: { type: 'arguments', args } }) : found
    },

    async run({ id, filter, wait }, { workdir, session }, run) {
      const cwd = await resolveWorkdir(workdir)
      const found = cwd.ok ? background.find(session, id) : cwd
      if (!(await begun(run))) return abortedResult
      if (!found.ok) return failedWith(found.fault)
      const shell = found.value
      if (wait > 0) await untilNews(shell, { waitMs: wait * 1000, after, signal: run.signal })
      if (run.signal.aborted) return abortedResult
      const end = shell.ended?.bytes ?? (await shell.running.size())
      const bytes = shell.running.output.read(shell.readBytes, end)
      const wanted = filter === undefined ? bytes : onlyLinesWith(filter, bytes)
      const output = await run.storeOutput(withNotes(wanted, notesOf(shell)), readableOutput)
      shell.readBytes = end
      return tellShell(shell, { type: 'ok', output })
    },
  })
}

function notesOf({ id, ended }: BackgroundShell): readonly string[] {
  if (ended === null) return [`[${id} is running]`]
  const left = ended.leftRunning === undefined ? [] : [ended.leftRunning]
  return [`[${id} has ended: ${howEnded(ended.ending)}]`, ...left]
}

type Wait = { readonly waitMs: number; readonly after: Clock['after']; readonly signal: AbortSignal }

/** Waits for new output, the end of the command, an abort or the time, whichever is first. */
async function untilNews(shell: BackgroundShell, { waitMs, after, signal }: Wait): Promise<void> {
  let isOver = false
  const cancel = after(waitMs, () => {
    isOver = true
  })
  try {
    while (!isOver && !signal.aborted && shell.ended === null && (await shell.running.size()) <= shell.readBytes)
      await new Promise<void>((resolve) => void after(lookMs, resolve))
  } finally {
    cancel()
  }
}
