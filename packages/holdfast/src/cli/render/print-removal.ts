import type { Removal } from '@holdfast/protocol'
import type { CliContext } from '../context/cli-context.ts'
import { toJsonText } from '../terminal/json-text.ts'
import { counted, goneText, stayedText } from './removal-text.ts'

/** What is said of a removal: `did` where it happened, `would` where it was only tried. */
export type RemovalWords = { readonly did: string; readonly would: string }

export const trashWords: RemovalWords = { did: 'went into the trash', would: 'would go into the trash' }
export const emptyWords: RemovalWords = { did: 'gone for good', would: 'would be gone for good' }

/** The names on standard output, what it means on standard error. */
export async function tellRemoval(
  removal: Removal,
  { did, would }: RemovalWords,
  isJson: boolean,
  { out, err }: CliContext,
): Promise<void> {
  if (isJson) return out.write(`${toJsonText(removal)}\n`)
  await out.write(goneText(removal))
  await err.write(`${counted(removal.count)} ${removal.dryRun ? would : did}.\n${stayedText(removal)}`)
}

export const nothingRemoved = (dryRun: boolean): Removal => ({
  ...{ count: 0, gone: [], workspaces: [], stayed: [] },
  dryRun,
})
