import { inOneWay, loadPeer, type OpenPeer, type Peer, type Said } from './peer.ts'

/** What we use of `@openai/agents`; see `dist/memory/memorySession.d.ts` of its `@openai/agents-core`. */
type Library = { readonly MemorySession: new () => MemorySession }
type MemorySession = {
  getSessionId(): Promise<string>
  addItems(items: readonly Item[]): Promise<void>
  getItems(): Promise<readonly Item[]>
}
type Item = { readonly role: string; readonly content: string | readonly { readonly text: string }[] }

const toItem = ({ role, text }: Said) =>
  role === 'user'
    ? { type: 'message', role, content: text }
    : { type: 'message', role, status: 'completed', content: [{ type: 'output_text', text }] }

/**
 * Its one session class that needs no service keeps everything in memory and nothing on a disk; it has no list and no
 * search, so its user keeps the sessions in a map and looks through them. The other one is a client of OpenAI's servers.
 */
export async function loadAgents(): Promise<Peer> {
  const { MemorySession } = await loadPeer<Library>('@openai/agents')
  const sessions = new Map<string, MemorySession>() // outlives `open`: there is nowhere else it could be kept

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
        return inOneWay((said) => session.addItems([toItem(said)]))
      },
      async write(said) {
        const session = await begun()
        await session.addItems(said.map(toItem))
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

  return { name: '@openai/agents MemorySession', keeps: 'in memory', finds: false, open }
}

const textOf = (item: Item | undefined): string => {
  if (!item) return ''
  return typeof item.content === 'string' ? item.content : item.content.map(({ text }) => text).join('')
}
