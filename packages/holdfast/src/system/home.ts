import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'

/** The variables of a process. Handed in by whoever composes the program; no module below reads its own. */
export type Environment = { readonly [name: string]: string | undefined }

/** Where everything of Holdfast lies on this machine. */
export type Home = {
  readonly dataDir: string
  readonly configDir: string
  readonly stateDir: string
  readonly storePath: string
  readonly blobsDir: string
  /** Says where the running server is, if one runs. */
  readonly serverFile: string
}

/** `HOLDFAST_HOME` moves data, config and state below one directory; otherwise they lie where XDG says. */
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

/** The store that the environment names for every command, if it names one; set to nothing is not set. */
export const storeOf = (environment: Environment): string | undefined => environment['HOLDFAST_STORE'] || undefined
