import { escapeLine, type RestoreAction } from '@holdfast/protocol'
import { counted } from './format.ts'

/** Says what a restore will do to a file. `movedFrom` is the path that it comes back from. */
export const restoreText = (action: RestoreAction, movedFrom?: string): string =>
  movedFrom === undefined ? restoreWords[action] : `moves back from ${escapeLine(movedFrom)}`

/** Says what a restore has done to a file. */
export const restoredText = (action: RestoreAction, movedFrom?: string): string =>
  movedFrom === undefined ? restoredWords[action] : `was moved back from ${escapeLine(movedFrom)}`

const restoreWords: Readonly<Record<RestoreAction, string>> = {
  restore: 'becomes what it was',
  recreate: 'comes back',
  delete: 'is deleted',
  none: 'is already as it was',
}

const restoredWords: Readonly<Record<RestoreAction, string>> = {
  restore: 'is as it was',
  recreate: 'is back',
  delete: 'was deleted',
  none: 'was already as it was',
}

type DoneCounts = { readonly isUndo: boolean; readonly changed: number; readonly refused: number }

/** Says what a restore or its undo has done. */
export function doneText({ isUndo, changed, refused }: DoneCounts): string {
  const left = refused === 0 ? '' : ` ${counted(refused, 'file')} left alone.`
  if (changed === 0) return `Nothing was changed.${left}`
  const is = changed === 1 ? 'is' : 'are'
  return isUndo
    ? `Undone: ${counted(changed, 'file')} ${is} as before the restore.${left}`
    : `${counted(changed, 'file')} put back.${left}`
}
