import { isAbsolute } from 'node:path'
import { escapeLine, noWorkdir, type Result } from '@holdfast/protocol'
import { isInside } from '../../system/files/resolve-path.ts'
import type { ImportDeps } from './host/import-deps.ts'
import type { Remark } from './parse/conversation.ts'

/** Folders of the system. Projects are never in them or below them, except in homes that lie there. */
const systemRoots =
  /^(\/private)?\/(etc|usr|bin|sbin|lib|lib32|lib64|libx32|boot|dev|proc|sys|run|snap|nix|System|Library|var\/(?!(home|tmp|folders|www)\/)[^/]+)(\/|$)/
/** Folders of the system that have folders of users below them. */
const sharedFolders =
  /^\/(private|(private\/)?var(\/(home|tmp|folders|www))?|opt|srv|(private\/)?tmp|mnt|media|home|Users|Volumes|Applications)?$/
/** The home directory of any user. `/Users/Shared` is nobody's. */
const homeFolder = /^(\/(home|Users|var\/home)\/(?!Shared\/)[^/]+|((\/private)?\/var)?\/root)(?=\/|$)/

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

/**
 * Returns what is wrong with a folder. Every hidden folder at the top of a home directory is refused, also one like
 * `~/.dotfiles`: which of them hold keys cannot be listed, and to give a session another folder takes one command.
 */
function findObjection(path: string, homes: readonly string[]): string | null {
  const named = homeFolder.exec(path)?.[0]
  if (path !== '/' && (path === named || homes.includes(path))) return 'a home directory'
  const own = homes.find((home) => home !== '/' && isInside(home, path))
  const inHome = path.slice((own ?? named ?? '').length)
  if (/^\/(\.|Library(\/|$))/.test(inHome)) return 'for keys, settings and data of programs'
  if (own !== undefined) return null
  if (named !== undefined) return 'in the home directory of another user'
  const isAboveHome = homes.some((home) => isInside(path, home))
  return isAboveHome || systemRoots.test(path) || sharedFolders.test(path) ? 'a folder of the system' : null
}
