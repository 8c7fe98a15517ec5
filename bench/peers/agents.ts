import { loadPeer, type OpenPeer, type Peer, type PeerMessage, withoutBatches } from './peer.ts'

/** The parts we use of `@openai/agents`; see `dist/memory/memorySession.d.ts` of its `@openai/agents-core`. */
type Library = { readonly MemorySession: new () => MemorySession }
type MemorySession = {
  getSessionId(): Promise<string>
  addItems(items: readonly Item[]): Promise<void>
  getItems(): Promise<readonly Item[]>
}
type Item = { readonly role: string; readonly content: string | readonly { readonly text: string }[] }

const toItem = ({ role, text }: PeerMessage) =>
  role === 'user'
    ? { type: 'message', role, content: text }
    : { type: 'message', role, status: 'completed', content: [{ type: 'output_text', text }] }

/**
 * Its only session class that needs no service stores everything in memory. It has no list and no search, so its user
 * stores the sessions in a map and scans them. The other class is a client of OpenAI's servers.
 */
export async function loadAgents(): Promise<Peer> {
  const { MemorySession } = await loadPeer<Library>('@openai/agents')
  const sessions = new Map<string, MemorySession>() // survives `open`, because nothing is on disk

  const begun = async () => {
    const session = new MemorySession()
    sessions.set(await session.getSessionId(), session)
    return session
  }
  const itemsOf = async (id: string) => (await sessions.get(id)?.getItems()) ?? []

  async function open(): Promise<OpenPeer> {
    return {
      async begin() {
        const session = await begun()
        return withoutBatches((message) => session.addItems([toItem(message)]))
      },
      async write(messages) {
        const session = await begun()
        await session.addItems(messages.map(toItem))
        return session.getSessionId()
      },
      resume: itemsOf,
      readAll: async (id) => (await itemsOf(id)).length,
      async list(rows) {
        const newest = [...sessions.values()].reverse().slice(0, rows)
        return Promise.all(newest.map(async (session) => textOf((await session.getItems())[0])))
      },
      async search(word, limit) {
        let found = 0
        for (const session of sessions.values()) {
          const items = await session.getItems()
          if (items.some((item) => textOf(item).toLowerCase().includes(word))) found++
          if (found === limit) break
        }
        return found
      },
      close: async () => undefined,
    }
  }

  return { name: '@openai/agents MemorySession', durability: 'in memory', hasSearch: false, open }
}

const textOf = (item: Item | undefined): string => {
  if (!item) return ''
  return typeof item.content === 'string' ? item.content : item.content.map(({ text }) => text).join('')
}
