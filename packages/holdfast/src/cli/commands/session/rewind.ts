import {
  type CommandInput,
  commandResult,
  fault,
  orThrow,
  type RestorePreview,
  type SessionHandle,
} from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { RunCommand } from '../../args/command-spec.ts'
import { withNamedSession } from '../../connect/connect.ts'
import { describeFiles, describePreview } from '../../render/restored-files.ts'
import type { CliContext } from '../../terminal/cli-context.ts'
import { exitCodes, failWith, rejectUsage } from '../../terminal/exit.ts'
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
    else {
      if (!files) await checkLaterTurns(handle, turn)
      await rewind(handle, turn, { files, json }, context)
    }
    return exitCodes.ok
  })
}

/** No change of a session is older than its first record. */
const beforeSession = { message: 1 } as const
const lastRestore = { undo: true } as const

/** Refuses to go back to the turn that the session is at: it would only leave a branch without a difference. */
async function checkLaterTurns(handle: SessionHandle, turn: number): Promise<void> {
  const { messages } = orThrow(await handle.page({ limit: 1 }))
  if (messages.at(-1)?.turn === turn)
    failWith(fault('nothing_to_undo', `No turn comes after turn ${turn}, so there is nothing to undo.`, { turn }))
}

type Options = { readonly files: boolean; readonly json: boolean }

async function rewind(handle: SessionHandle, turn: number, { files, json }: Options, context: CliContext) {
  const { out, err } = context
  // The messages first: the notice about the files then belongs to the line that goes on.
  const answer = orThrow(await handle.submit({ type: 'rewind', turn }))
  const restored = files ? orThrow(await handle.submit({ type: 'restoreFiles', turn })) : null
  if (json) return out.writeJson({ ...answer, ...(restored && { files: restored.result }) })
  const saved = escapeLine(commandResult('rewind', answer).branch)
  await out.write(`${saved}\n`)
  if (restored) await err.tell(await describeFiles(handle, restored))
  await err.tell(`Undid the turns after turn ${turn}. The messages so far are saved as ${saved}.`)
}

async function restore(handle: SessionHandle, command: CommandInput, json: boolean, { out, err }: CliContext) {
  const answer = orThrow(await handle.submit(command))
  if (json) return out.writeJson(answer)
  await err.tell(await describeFiles(handle, answer))
}

async function showPreview(preview: RestorePreview, json: boolean, { out, err }: CliContext) {
  if (json) return out.writeJson(preview)
  await out.write(describePreview(preview, out))
  await err.tell(preview.files.length === 0 ? 'No file would be changed.' : 'Nothing was changed yet.')
}
