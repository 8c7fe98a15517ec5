import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectHoldfast, type HoldfastMethods, type RemoteHoldfast } from '@holdfast/client'
import { orThrow } from '@holdfast/protocol'
import type { Holdfast, ServedHoldfast } from '../holdfast.ts'
import { openOfferTrust } from '../open/open-offer-trust.ts'
import { openPermissionRules } from '../open/permission-rules.ts'
import { open } from '../open.ts'
import { hashToken, openServer } from '../server/index.ts'
import { createTransfer } from '../server-transfer.ts'
import { findHome } from '../system/home.ts'

/** Where sessions run: in the runtime that the test calls, behind a server, or in another node that owns them. */
export type Where = 'here' | 'of a server' | 'of another node'

/** A runtime with a home of its own. */
export type TestApi = AsyncDisposable & {
  /** The folder of its store, which its sessions can work in. */
  readonly home: string
  /** The methods under test. */
  readonly api: HoldfastMethods
  /** The runtime in this process, which the server serves. */
  readonly near: ServedHoldfast
  /** The client of the server; null without one. */
  readonly far: RemoteHoldfast | null
}

/** Opens a runtime with the demo model, and a server in front of it if it is to be far. */
export async function openApi(where: Where): Promise<TestApi> {
  await using opened = new AsyncDisposableStack()
  const home = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-near-far-')))
  opened.defer(() => rm(home, { recursive: true, force: true }))
  const environment = { HOLDFAST_HOME: home, DEMO_PACE: '0', PATH: process.env['PATH'] }
  // Both stores have the same methods. Plain files start no threads, which saves most of a short test.
  const files = where === 'of a server' && { store: `jsonl:${join(home, 'data', 'logs')}` }
  const near = orThrow(await open({ environment, model: 'demo/agent', ...files }))
  opened.defer(() => near.close())
  const far = where === 'of a server' ? await connectTo(near, home, opened) : null
  const other = where === 'of another node' ? orThrow(await open({ environment, model: 'demo/agent' })) : null
  opened.defer(() => other?.close())
  const parts = opened.move()
  return {
    home,
    api: far ?? (other && startedElsewhere(other, near)) ?? near,
    near,
    far,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

/** Returns a runtime whose sessions are started and owned by another one. Those in memory cannot be: they stay here. */
const startedElsewhere = (here: Holdfast, owner: Holdfast): HoldfastMethods => ({
  ...here,
  async startSession(options) {
    if (options?.persist === false) return here.startSession(options)
    return here.getSession((await owner.startSession(options)).id)
  },
  async getOrCreate(key, options) {
    if (options?.persist === false) return here.getOrCreate(key, options)
    return here.getSession((await owner.getOrCreate(key, options)).id)
  },
})

async function connectTo(near: ServedHoldfast, home: string, opened: AsyncDisposableStack): Promise<RemoteHoldfast> {
  const token = 'a'.repeat(30)
  const server = orThrow(
    await openServer({
      host: '127.0.0.1',
      port: 0,
      pageDir: null,
      version: '0',
      now: Date.now,
      tokens: [{ hash: hashToken(token), role: 'admin' as const }],
      sessions: near.handles,
      transfer: createTransfer(near),
      onProblem: () => undefined,
      ...near.serverParts,
      permissions: openPermissionRules(findHome({ HOLDFAST_HOME: home })),
      trust: openOfferTrust(findHome({ HOLDFAST_HOME: home })),
      storedTokens: near.liveTokens,
    }),
  )
  opened.defer(() => server.close())
  const far = connectHoldfast(server.url, token)
  opened.defer(() => far.close())
  return far
}
