import { createHash } from 'node:crypto'
import { ok, type Result } from '@holdfast/protocol'
import type { ConfiguredServer } from './config/configured-servers.ts'
import { hashConnect } from './config/server-config.ts'
import { createConnection, type McpConnection, type ServerTool } from './connection/connection.ts'
import type { ClientDeps } from './connection/open-client.ts'
import type { KnownOffer, KnownOffers } from './known-offers.ts'

export type StartableDeps = Omit<ClientDeps, 'cwd' | 'onChanged' | 'onElicit'> & {
  /** The user's home directory, where the user's own servers are started. */
  readonly userDir: string
  readonly known: KnownOffers
  readonly idleMs?: number | undefined
}

/** A server of one workspace that may be started. All sessions there share it. */
export type StartableServer = {
  /** Its workspace, its name and its configuration. */
  readonly id: string
  readonly server: ConfiguredServer
  readonly connection: McpConnection
  /** What it offered when it was last asked; null if it was never asked. */
  readonly offer: KnownOffer | null
  /** Why a person must sign in to it; null if nobody must. */
  readonly signIn: string | null
  /** Why it did not say what it offers when it was last asked; null if it did. */
  readonly failure: string | null
  /** When it was last asked, on the clock of `performance.now`. */
  readonly askedMs: number
  /** Asks it what it offers, and remembers that. A failed one keeps what is known of it. All that ask share one question. */
  ask(): Promise<Result<KnownOffer>>
  /** Records that a person has allowed a call of a tool as it is now. */
  allow(tool: ServerTool): Promise<void>
}

type Place = { readonly workspace: string; readonly server: ConfiguredServer }

/** Identifies a server of a workspace. Another configuration is another server. */
export const idOf = ({ workspace, server }: Place): string =>
  JSON.stringify([workspace, server.name, hashConnect(server)])

/** Creates a server without starting it. `ends` aborts its questions. */
export async function createStartableServer(
  deps: StartableDeps,
  { workspace, server }: Place,
  ends: AbortSignal,
): Promise<StartableServer> {
  const { known } = deps
  const isOfUser = server.from === 'user'
  // One of the user is the same in every workspace, and what it offers too.
  const key = createHash('sha256')
    .update(idOf({ workspace: isOfUser ? '' : workspace, server }))
    .digest('hex')
    .slice(0, 32)
  let [offer, signIn] = await Promise.all([known.read(key), known.readSignIn(key)])
  let failure: string | null = null
  let asking: Promise<Result<KnownOffer>> | null = null
  let askedMs = Number.NEGATIVE_INFINITY

  const connection = createConnection(server, {
    ...deps,
    // One of the user is not started in the workspace: `npx` would run what a repository has put there.
    cwd: isOfUser ? deps.userDir : workspace,
    environment: { ...deps.environment, WORKSPACE: workspace },
    onChanged: () => void ask(),
    // A new version of it may offer something else than what is known.
    onOpened: () => void ask(),
    onSignIn(why) {
      if (signIn === why) return
      signIn = why
      void known.saveSignIn(key, why)
    },
  })

  function ask(): Promise<Result<KnownOffer>> {
    asking ??= askNow().finally(() => {
      asking = null
      askedMs = performance.now()
    })
    return asking
  }

  async function askNow(): Promise<Result<KnownOffer>> {
    const listed = await connection.list(ends)
    failure = listed.ok ? null : listed.fault.message
    if (!listed.ok) return listed
    offer = await known.save(key, listed.value)
    return ok(offer)
  }

  return {
    id: idOf({ workspace, server }),
    server,
    connection,
    ask,
    get offer() {
      return offer
    },
    get signIn() {
      return signIn
    },
    get failure() {
      return failure
    },
    get askedMs() {
      return askedMs
    },
    async allow(tool) {
      await known.allow(key, tool)
      offer = await known.read(key)
    },
  }
}
