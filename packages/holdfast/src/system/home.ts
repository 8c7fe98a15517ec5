import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'

/** Environment variables. The composition root passes them in; no other module reads `process.env`. */
export type Environment = { readonly [name: string]: string | undefined }

/** The directories and files of Holdfast on this machine. */
export type Home = {
  readonly dataDir: string
  readonly configDir: string
  readonly stateDir: string
  /** The user's home directory, where other tools keep their files. */
  readonly userDir: string
  readonly storePath: string
  readonly blobsDir: string
  /** Contains the address of the running server, if any. */
  readonly serverFile: string
}

/** Finds the directories: below `HOLDFAST_HOME` if it is set, else by the XDG variables. */
export function findHome(environment: Environment): Home {
  const own = environment['HOLDFAST_HOME']
  // With a home of its own and no HOME, a test or trial reads nothing of the user's.
  const user = environment['HOME'] || (own ? resolve(own) : homedir())
  const directory = (name: string, variable: string, fallback: string) => {
    if (own) return join(resolve(own), name)
    const set = environment[variable]
    return join(set && isAbsolute(set) ? set : join(user, fallback), 'holdfast')
  }
  const dataDir = directory('data', 'XDG_DATA_HOME', '.local/share')
  const stateDir = directory('state', 'XDG_STATE_HOME', '.local/state')
  return {
    dataDir,
    configDir: directory('config', 'XDG_CONFIG_HOME', '.config'),
    stateDir,
    userDir: user,
    storePath: join(dataDir, 'holdfast.db'),
    blobsDir: join(dataDir, 'blobs'),
    serverFile: join(stateDir, 'server.json'),
  }
}

/** Returns the store set by `HOLDFAST_STORE`; empty counts as unset. */
export const storeOf = (environment: Environment): string | undefined => environment['HOLDFAST_STORE'] || undefined

/** Returns the place for files set by `HOLDFAST_BLOBS`; empty counts as unset. */
export const blobsOf = (environment: Environment): string | undefined => environment['HOLDFAST_BLOBS'] || undefined
