import { randomUUID } from 'node:crypto'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { loadPeer, type OpenPeer, type Peer, type PeerMessage, withoutBatches } from './peer.ts'

/** The parts we use of `@google/gemini-cli-core`; see `dist/src/services/chatRecordingService.d.ts` there. */
type Library = {
  readonly ChatRecordingService: new (context: unknown) => ChatRecordingService
  loadConversationRecord(file: string, options?: { readonly metadataOnly?: boolean }): Promise<Conversation | null>
}
type ChatRecordingService = {
  initialize(resumed?: { readonly filePath: string; readonly conversation: Conversation }): Promise<void>
  recordMessage(message: {
    readonly model: string
    readonly type: 'user' | 'gemini'
    readonly content: readonly Part[]
  }): string
  getConversation(): Conversation | null
  getConversationFilePath(): string | null
}
type Part = { readonly text?: string }
type Conversation = {
  readonly lastUpdated: string
  readonly summary?: string
  readonly firstUserMessage?: string
  readonly messages: readonly { readonly content: readonly Part[] | string }[]
}

/** Stores a JSONL file for each session, with two `appendFileSync` for each message. Its list reads every file. */
export async function loadGemini(): Promise<Peer> {
  const { ChatRecordingService, loadConversationRecord } = await loadPeer<Library>(
    '@google/gemini-cli-core/dist/src/services/chatRecordingService.js',
  )

  async function open(dir: string): Promise<OpenPeer> {
    const chats = join(dir, 'gemini', 'chats')
    await mkdir(chats, { recursive: true })
    const config = {
      getProjectRoot: () => dir,
      storage: { getProjectTempDir: () => join(dir, 'gemini') },
      getWorkspaceContext: () => ({ getDirectories: () => [] }),
    }
    const begun = async () => {
      const service = new ChatRecordingService({ config, promptId: randomUUID() })
      await service.initialize()
      return { service, record: ({ role, text }: PeerMessage) => void service.recordMessage(toRecord(role, text)) }
    }
    const resumed = async (filePath: string) => {
      const conversation = await loadConversationRecord(filePath)
      if (!conversation) throw new Error(`${filePath} is no conversation`)
      const service = new ChatRecordingService({ config, promptId: randomUUID() })
      await service.initialize({ filePath, conversation })
      return service
    }
    // Like its session browser: reads every file completely to get its title.
    const all = async (metadataOnly: boolean) => {
      const files = await readdir(chats)
      const read = await Promise.all(files.map((file) => loadConversationRecord(join(chats, file), { metadataOnly })))
      return read.filter((one) => one !== null).toSorted((one, other) => (one.lastUpdated < other.lastUpdated ? 1 : -1))
    }
    return {
      async begin() {
        const { record } = await begun()
        return withoutBatches(record)
      },
      async write(messages) {
        const { service, record } = await begun()
        for (const one of messages) record(one)
        return service.getConversationFilePath() ?? ''
      },
      resume: resumed,
      readAll: async (file) => (await resumed(file)).getConversation()?.messages.length ?? 0,
      list: async (rows) =>
        (await all(true)).slice(0, rows).map(({ summary, firstUserMessage }) => summary ?? firstUserMessage ?? ''),
      async search(word, limit) {
        const found = (await all(false)).filter(({ messages }) =>
          messages.some(({ content }) => textOf(content).toLowerCase().includes(word)),
        )
        return Math.min(limit, found.length)
      },
      close: async () => undefined,
    }
  }

  return { name: 'gemini ChatRecordingService', durability: 'written', open }
}

const toRecord = (role: PeerMessage['role'], text: string) =>
  ({ model: 'bench', type: role === 'user' ? 'user' : 'gemini', content: [{ text }] }) as const

const textOf = (content: readonly Part[] | string): string =>
  typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('')
