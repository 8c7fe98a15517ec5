import { noChangesText } from '@holdfast/client/internal'
import {
  type Answer,
  commandResult,
  isLeftByMove,
  type RestoredName,
  type RestorePreview,
  type SessionHandle,
} from '@holdfast/protocol'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { Output } from '../terminal/output.ts'
import { diffText } from './diff-text.ts'

const done = { restore: 'restored', recreate: 'created again', delete: 'deleted', none: 'unchanged' } as const
const planned = { restore: 'restore', recreate: 'create again', delete: 'delete', none: 'leave unchanged' } as const

type Words = Readonly<Record<RestoredName['action'], string>>

/** Says which files were put back. */
export async function describeFiles(handle: SessionHandle, answer: Answer): Promise<string> {
  const { restored, refused } = commandResult('restoreFiles', answer)
  if (restored.length === 0 && refused.length === 0) return await noChangesText(handle, 'No file had to be put back.')
  const lines = [
    ...restored.filter((file) => !isLeftByMove(file)).map((file) => describeFile(file, done, 'moved back')),
    ...refused.map(({ path, why }) => `left as it is: ${escapeLine(path)} (${escapeLine(why)})`),
  ]
  return lines.join('\n')
}

function describeFile({ path, action, movedFrom }: RestoredName, words: Words, moved: string): string {
  if (movedFrom !== undefined) return `${moved}: ${escapeLine(movedFrom)} → ${escapeLine(path)}`
  return `${words[action]}: ${escapeLine(path)}`
}

/** Says which files would be put back, with the lines that would change. */
export function describePreview(
  { files, refused }: RestorePreview,
  { paint, columns }: Pick<Output, 'paint' | 'columns'>,
): string {
  const lines = [
    ...files
      .filter((file) => !isLeftByMove(file))
      .flatMap((file) => [
        describeFile(file, planned, 'move back'),
        ...(file.diff === '' ? [] : [diffText(file.diff, paint, { columns })]),
      ]),
    ...refused.map(({ path, why }) => `leave as it is: ${escapeLine(path)} (${escapeLine(why)})`),
  ]
  return lines.map((line) => `${line}\n`).join('')
}
