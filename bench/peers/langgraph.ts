import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { loadPeer, type OpenPeer, type Peer, type PeerMessage, withoutBatches } from './peer.ts'

/** The parts we use of `@langchain/langgraph-checkpoint-sqlite` and its peers; see `dist/index.d.ts` of each. */
type SaverLibrary = { readonly SqliteSaver: { fromConnString(path: string): SqliteSaver } }
type CheckpointLibrary = { emptyCheckpoint(): Checkpoint; uuid6(clockSequence: number): string }
type MessageLibrary = { readonly HumanMessage: MessageClass; readonly AIMessage: MessageClass }
type MessageClass = new (text: string) => Message
type Message = { readonly content: unknown }
type Checkpoint = { readonly id: string; readonly channel_values: { readonly messages?: readonly Message[] } }
type Config = { readonly configurable: { readonly thread_id?: string; readonly checkpoint_id?: string } }
type Tuple = { readonly checkpoint: Checkpoint; readonly config: Config }
type SqliteSaver = {
  readonly db: { close(): void }
  getTuple(config: Config): Promise<Tuple | undefined>
  list(config: Config): AsyncIterable<Tuple>
  put(config: Config, checkpoint: Checkpoint, metadata: unknown): Promise<Config>
}

/** A session of up to this many messages is written step by step, as a graph does; a longer one in one checkpoint. */
const stepwiseMax = 10

/** Each step writes a checkpoint with all messages. Uses a write-ahead log without a sync for each commit. */
export async function loadLanggraph(): Promise<Peer> {
  const { SqliteSaver } = await loadPeer<SaverLibrary>('@langchain/langgraph-checkpoint-sqlite')
  const { emptyCheckpoint, uuid6 } = await loadPeer<CheckpointLibrary>('@langchain/langgraph-checkpoint')
  const { HumanMessage, AIMessage } = await loadPeer<MessageLibrary>('@langchain/core/messages')
  const toMessage = ({ role, text }: PeerMessage) => (role === 'user' ? new HumanMessage(text) : new AIMessage(text))

  async function open(dir: string): Promise<OpenPeer> {
    const saver = SqliteSaver.fromConnString(join(dir, 'langgraph.db'))
    const begun = () => {
      const messages: Message[] = []
      const thread = randomUUID()
      let config: Config = { configurable: { thread_id: thread } }
      let step = 0
      const put = async () => {
        step += 1
        const checkpoint = {
          ...emptyCheckpoint(),
          id: uuid6(step),
          channel_values: { messages },
          channel_versions: { messages: step },
        }
        config = await saver.put(config, checkpoint, { source: 'loop', step, parents: {} })
      }
      return { messages, thread, put }
    }
    const messagesOf = async (thread: string) => {
      const tuple = await saver.getTuple({ configurable: { thread_id: thread } })
      return tuple?.checkpoint.channel_values.messages ?? []
    }
    /** Returns the newest checkpoint of each thread. The library lists only checkpoints, so this reads all of them. */
    async function* threads() {
      const seen = new Set<string>()
      for await (const { checkpoint, config } of saver.list({ configurable: {} })) {
        const thread = config.configurable.thread_id ?? ''
        if (seen.has(thread)) continue
        seen.add(thread)
        yield checkpoint.channel_values.messages ?? []
      }
    }
    return {
      async begin() {
        const { messages, put } = begun()
        return withoutBatches((message) => {
          messages.push(toMessage(message))
          return put()
        })
      },
      async write(added) {
        const { messages, thread, put } = begun()
        for (const [index, one] of added.entries()) {
          messages.push(toMessage(one))
          if (added.length <= stepwiseMax || index === added.length - 1) await put()
        }
        return thread
      },
      resume: messagesOf,
      readAll: async (thread) => (await messagesOf(thread)).length,
      async list(rows) {
        const titles: string[] = []
        for await (const [first] of threads()) {
          titles.push(String(first?.content ?? ''))
          if (titles.length === rows) break
        }
        return titles
      },
      async search(word, limit) {
        let found = 0
        for await (const messages of threads()) {
          if (messages.some(({ content }) => String(content).toLowerCase().includes(word))) found++
          if (found === limit) break
        }
        return found
      },
      close: async () => saver.db.close(),
    }
  }

  return { name: 'LangGraph SqliteSaver', durability: 'written', open }
}
