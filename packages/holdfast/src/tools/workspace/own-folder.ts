import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import type { WorkspacePath } from '../../system/files/resolve-path.ts'

const ownFolder = '.holdfast'
// Some file systems fold case, compose characters and skip what cannot be seen when they compare names.
const unseen = /\p{Default_Ignorable_Code_Point}/gu
const isOwn = (name: string) => name.replace(unseen, '').normalize('NFKC').toLowerCase() === ownFolder

/** Hooks, servers and permissions live there: an agent that could write them could approve itself. */
export function refuseOwnFolder(place: WorkspacePath): Result<WorkspacePath> {
  if (!place.shown.split('/').some(isOwn)) return ok(place)
  return refuse(
    fault('bad_request', `${escapeLine(place.shown)} belongs to Holdfast itself and is not written by tools`),
  )
}
