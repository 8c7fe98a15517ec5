import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { loadPeer, type OpenPeer, type Peer, type PeerMessage, withoutBatches } from './peer.ts'

/** The parts we use of `@earendil-works/pi-coding-agent`; see `dist/core/session-manager.d.ts` there. */
type Library = { readonly SessionManager: SessionManagerClass }
type SessionManagerClass = {
  create(cwd: string, sessionDir: string): SessionManager
  open(path: string): SessionManager
  list(cwd: string, sessionDir: string): Promise<readonly SessionInfo[]>
}
type SessionManager = {
  appendMessage(message: unknown): string
  getSessionFile(): string | undefined
  buildSessionContext(): { readonly messages: readonly unknown[] }
}
type SessionInfo = {
  readonly name?: string
  readonly modified: Date
  readonly firstMessage: string
  readonly allMessagesText: string
}

const usage = {
  input: 10,
  output: 10,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 20,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
}
const model = { api: 'anthropic-messages', provider: 'anthropic', model: 'bench', stopReason: 'stop', usage }

const toMessage = ({ role, text }: PeerMessage) => ({
  role,
  content: [{ type: 'text', text }],
  timestamp: Date.now(),
  ...(role === 'assistant' && model),
})

/** Stores a JSONL file for each session, with an `appendFileSync` for each message. Its list reads every file. */
export async function loadPi(): Promise<Peer> {
  const { SessionManager } = await loadPeer<Library>('@earendil-works/pi-coding-agent')

  async function open(dir: string): Promise<OpenPeer> {
    const sessionDir = join(dir, 'pi')
    await mkdir(sessionDir, { recursive: true })
    // Its list is ordered by file name; its picker sorts it by last use.
    const newestFirst = async () =>
      (await SessionManager.list(dir, sessionDir)).toSorted((one, other) => +other.modified - +one.modified)
    const contextOf = (file: string) => SessionManager.open(file).buildSessionContext().messages
    return {
      async begin() {
        const session = SessionManager.create(dir, sessionDir)
        return withoutBatches((message) => void session.appendMessage(toMessage(message)))
      },
      async write(messages) {
        const session = SessionManager.create(dir, sessionDir)
        for (const one of messages) session.appendMessage(toMessage(one))
        return session.getSessionFile() ?? ''
      },
      resume: async (file) => contextOf(file),
      readAll: async (file) => contextOf(file).length,
      list: async (rows) => (await newestFirst()).slice(0, rows).map(({ name, firstMessage }) => name ?? firstMessage),
      // Its picker loads the text of all sessions, then scans it.
      async search(word, limit) {
        const found = (await newestFirst()).filter(({ allMessagesText }) =>
          allMessagesText.toLowerCase().includes(word),
        )
        return Math.min(limit, found.length)
      },
      close: async () => undefined,
    }
  }

  return { name: 'pi SessionManager', durability: 'written', open }
}
