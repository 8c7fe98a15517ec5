import { join } from 'node:path'
import { limits, orThrow } from '@holdfast/protocol'
import { stagePackages } from '../../scripts/pack.ts'
import type { OpenPeer, Peer, PeerMessage } from './peer.ts'

type Library = typeof import('../../packages/holdfast/src/entry/index.ts')

const built = new URL('../../build/stage/holdfast/dist/entry/index.js', import.meta.url)

/** Builds what people install: like the peers, it is measured as JavaScript, and not with its types to strip. */
export async function buildOurs(): Promise<void> {
  process.stderr.write('Building the packages …\n')
  await stagePackages()
}

const toSeed = ({ role, text }: PeerMessage) => ({ role, content: text })

/** Loads Holdfast as it is installed, after `buildOurs`. It is used through its public library. */
export async function loadOurs(kind: 'sqlite' | 'jsonl'): Promise<Peer> {
  const { openHoldfast } = (await import(built.href)) as Library
  async function open(dir: string): Promise<OpenPeer> {
    const holdfast = await openHoldfast({
      store: `${kind}:${join(dir, `holdfast-${kind}`)}`,
      environment: { HOLDFAST_HOME: join(dir, `home-${kind}`) },
    })
    const conversations = holdfast.conversations({ workdir: dir })
    const begun = () => holdfast.startSession({ workdir: dir, model: 'demo/agent' })
    /** Wakes a session and reads its state and newest messages, which a client receives first. */
    const resume = async (id: string) => {
      const handle = orThrow(await holdfast.handles.open(id))
      const frames = handle.subscribe()[Symbol.asyncIterator]()
      const { value: first } = await frames.next()
      await frames.return?.()
      if (first?.type !== 'snapshot') throw new Error('a stream begins with a snapshot')
    }
    return {
      async begin() {
        const session = await begun()
        const key = session.id
        return {
          append: async (message) => void (await session.seedMessages([toSeed(message)])),
          add: ({ role, text }) => conversations.addMessage(key, role, text),
          save: () => conversations.save(key),
        }
      },
      async write(messages) {
        const session = await begun()
        const { seedMessagesMax } = limits
        for (let first = 0; first < messages.length; first += seedMessagesMax) {
          await session.seedMessages(messages.slice(first, first + seedMessagesMax).map(toSeed))
        }
        await holdfast.stopSession(session.id)
        return session.id
      },
      resume,
      unload: (id) => holdfast.stopSession(id),
      readAll: async (id) => (await (await holdfast.getSession(id)).messages()).length,
      list: async (rows) => (await holdfast.list({ limit: rows })).sessions.map(({ title }) => title),
      search: async (text, limit) => orThrow(await holdfast.handles.search({ text, limit })).hits.length,
      close: () => conversations.close().finally(() => holdfast.close()),
    }
  }

  return { name: `Holdfast, ${kind}`, durability: 'synced', open }
}
