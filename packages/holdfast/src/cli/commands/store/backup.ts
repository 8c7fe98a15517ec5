import { orThrow } from '@holdfast/protocol/result'
import type { RunCommand } from '../../args/command-spec.ts'
import { resolveDiskStore } from '../../connect/resolve-store.ts'
import { resolvePath } from '../../connect/workspace.ts'
import { createProgressLine } from '../../render/progress-line.ts'
import { counted } from '../../render/tables.ts'
import { exitCodes } from '../../terminal/exit.ts'
import type { storeSpecs } from './specs.ts'

/** Copies the store while other processes may write to it. */
export const run: RunCommand<typeof storeSpecs.backup> = async ({ positionals: [to = ''], flags }, context) => {
  const path = orThrow(resolvePath(context, to))
  const store = orThrow(resolveDiskStore(context))
  const { backup } = await import('../../../admin/backup/backup-store.ts')
  const line = createProgressLine(context)
  const result = await backup(store, path, ({ records, total }) => line.show({ done: records, total, unit: 'records' }))
  await line.end()
  const made = orThrow(result)
  const { out, err } = context
  const { url, sessions, records, lost, blobs, blobBytes, missingBlobs } = made
  if (flags.json) await out.writeJson(made)
  else
    await out.write(
      `${url}: ${counted(sessions, 'session')}, ${counted(records, 'record')}, ${counted(blobs, 'file')} of ${counted(blobBytes, 'byte')}.\n`,
    )
  if (lost > 0) await err.tell(`${counted(lost, 'record')} cannot be read. Run holdfast doctor to see which.`)
  for (const hash of missingBlobs) await err.tell(`The file ${hash} is missing or damaged in the store.`)
  return lost + missingBlobs.length > 0 ? exitCodes.failed : exitCodes.ok
}
