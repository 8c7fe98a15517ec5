import { type CommandInput, commandResult, orThrow, type RestorePreview, type SessionHandle } from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { RunCommand } from '../../args/command-spec.ts'
import { withNamedSession } from '../../connect/connect.ts'
import { describeFiles, describePreview } from '../../render/restored-files.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { exitCodes, rejectUsage } from '../../terminal/exit.ts'
import { turnOf } from './change.ts'
import type { sessionSpecs } from './specs.ts'

/** Goes back to the end of a turn, and puts files back if asked to. */
export const run: RunCommand<typeof sessionSpecs.rewind> = async (
  { positionals: [name = '', text], flags: { files, preview, undo, json } },
  context,
) => {
  if (preview && !files && !undo) rejectUsage('--preview shows what --files or --undo would do: give one of them.')
  if (undo && text !== undefined) rejectUsage('--undo takes no <turn>: it undoes the last restore of files.')
  if (!undo && !files && text === undefined)
    rejectUsage('<turn> is missing: the number of the turn to go back to, from 0.')
  const turn = text === undefined ? null : turnOf(text)
  return withNamedSession(context, name, async (handle) => {
    const point = undo ? lastRestore : turn === null ? beforeSession : { turn }
    if (preview) await showPreview(orThrow(await handle.previewRestore(point)), json, context)
    else if (undo || turn === null) await restore(handle, { type: 'restoreFiles', ...point }, json, context)
    else await rewind(handle, turn, { files, json }, context)
    return exitCodes.ok
  })
}

/** No change of a session is older than its first record. */
const beforeSession = { message: 1 } as const
const lastRestore = { undo: true } as const

type Options = { readonly files: boolean; readonly json: boolean }

async function rewind(handle: SessionHandle, turn: number, { files, json }: Options, context: CliContext) {
  const { out, err } = context
  // The messages first: the notice about the files then belongs to the line that goes on.
  const answer = orThrow(await handle.submit({ type: 'rewind', turn }))
  const restored = files ? orThrow(await handle.submit({ type: 'restoreFiles', turn })) : null
  if (json) return out.writeJson({ ...answer, ...(restored && { files: restored.result }) })
  const saved = escapeLine(commandResult('rewind', answer).branch)
  await out.write(`${saved}\n`)
  if (restored) await err.write(await describeFiles(handle, restored))
  await err.write(`Undid the turns after turn ${turn}. The messages so far are saved as ${saved}.\n`)
}

async function restore(handle: SessionHandle, command: CommandInput, json: boolean, { out, err }: CliContext) {
  const answer = orThrow(await handle.submit(command))
  if (json) return out.writeJson(answer)
  await err.write(await describeFiles(handle, answer))
}

async function showPreview(preview: RestorePreview, json: boolean, { out, err }: CliContext) {
  if (json) return out.writeJson(preview)
  await out.write(describePreview(preview, out.paint))
  await err.write(preview.files.length === 0 ? 'No file would be changed.\n' : 'Nothing was changed yet.\n')
}
