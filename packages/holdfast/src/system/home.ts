import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'

/** Environment variables. The composition root passes them in; no other module reads `process.env`. */
export type Environment = { readonly [name: string]: string | undefined }

/** The directories and files of Holdfast on this machine. */
export type Home = {
  readonly dataDir: string
  readonly configDir: string
  readonly stateDir: string
  readonly storePath: string
  readonly blobsDir: string
  /** Contains the address of the running server, if any. */
  readonly serverFile: string
}

/** Finds the directories: below `HOLDFAST_HOME` if it is set, else by the XDG variables. */
export function findHome(environment: Environment): Home {
  const own = environment['HOLDFAST_HOME']
  if (own)
    return homeAt({
      data: join(resolve(own), 'data'),
      config: join(resolve(own), 'config'),
      state: join(resolve(own), 'state'),
    })
  const user = environment['HOME'] || homedir()
  const base = (name: string, fallback: string) => {
    const set = environment[name]
    return join(set && isAbsolute(set) ? set : join(user, fallback), 'holdfast')
  }
  return homeAt({
    data: base('XDG_DATA_HOME', '.local/share'),
    config: base('XDG_CONFIG_HOME', '.config'),
    state: base('XDG_STATE_HOME', '.local/state'),
  })
}

function homeAt({
  data,
  config,
  state,
}: {
  readonly data: string
  readonly config: string
  readonly state: string
}): Home {
  return {
    dataDir: data,
    configDir: config,
    stateDir: state,
    storePath: join(data, 'holdfast.db'),
    blobsDir: join(data, 'blobs'),
    serverFile: join(state, 'server.json'),
  }
}

/** Returns the store set by `HOLDFAST_STORE`; empty counts as unset. */
export const storeOf = (environment: Environment): string | undefined => environment['HOLDFAST_STORE'] || undefined
