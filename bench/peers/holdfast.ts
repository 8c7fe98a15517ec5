import { join } from 'node:path'
import { limits, orThrow } from '@holdfast/protocol'
import { openHoldfast } from '../../packages/holdfast/src/entry/index.ts'
import type { OpenPeer, Peer, PeerMessage } from './peer.ts'

const toSeed = ({ role, text }: PeerMessage) => ({ role, content: text })

/** Holdfast through its public library. The store is SQLite by default. */
export function ourPeer(kind: 'sqlite' | 'jsonl'): Peer {
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
