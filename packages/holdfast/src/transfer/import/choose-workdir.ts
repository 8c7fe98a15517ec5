import { isAbsolute } from 'node:path'
import { escapeLine, noWorkdir, type Result } from '@holdfast/protocol'
import type { ImportDeps } from './host/import-deps.ts'
import type { Remark } from './parse/conversation.ts'

/** Folders of the system. Projects are never in them or below them. */
const systemRoots = /^\/(etc|usr|bin|sbin|lib|lib32|lib64|libx32|boot|dev|proc|sys|run|System|Library)(\/|$)/
/** Folders of the system that have folders of users below them. */
const sharedFolders = /^\/(private(\/etc.*)?|var|opt|srv|tmp|mnt|media|home|Users|Volumes|Applications)?$/
/** The home directory of any user. */
const homeFolder = /^(\/(home|Users|var\/home)\/[^/]+|(\/var)?\/root)$/

type WorkdirDeps = Pick<ImportDeps, 'resolveWorkdir' | 'homes'>

/**
 * Chooses the folder that an imported session works in: the one its file names, if a person would start a session there.
 * Any other is not adopted: the session then has none, and its first prompt asks for one. Waits only if the folder must be
 * looked at.
 */
export function chooseWorkdir(
  { resolveWorkdir, homes }: WorkdirDeps,
  named: string | undefined,
  remark: Remark,
): string | Promise<string> {
  const refuse = (code: 'workdir_dropped' | 'workdir_missing', why: string) => {
    remark(null, code, `${why} The session has no folder until you move it to one.`)
    return noWorkdir
  }
  if (named === undefined || named === noWorkdir) return refuse('workdir_missing', 'The file names no folder.')
  const shown = escapeLine(named)
  if (!isAbsolute(named)) return refuse('workdir_dropped', `Its folder ${shown} is not a full path here.`)
  const choose = (real: Result<string>): string => {
    if (!real.ok) return refuse('workdir_missing', `The folder it worked in, ${shown}, does not exist here.`)
    const why = findObjection(real.value, homes)
    return why === null ? real.value : refuse('workdir_dropped', `Its folder ${shown} is ${why}.`)
  }
  const real = resolveWorkdir(named)
  return 'then' in real ? real.then(choose) : choose(real)
}

function findObjection(path: string, homes: readonly string[]): string | null {
  if (homeFolder.test(path) || homes.includes(path)) return 'a home directory'
  return systemRoots.test(path) || sharedFolders.test(path) ? 'a folder of the system' : null
}
