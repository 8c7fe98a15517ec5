import { type BlobHash, type Command, type Content, type Fault, fault, type SessionHandle } from '@holdfast/protocol'
import type { Caller } from '../auth/access.ts'

const tokensMax = 256
const filesMax = 256

export type OwnFiles = ReturnType<typeof createOwnFiles>

/**
 * Remembers which files the tokens for one session stored, so that such a token can name these and the files of its session
 * in a prompt, but no file of another session. What is forgotten, or was stored before a restart, is stored again.
 */
export function createOwnFiles() {
  const stored = new Map<string, Set<BlobHash>>()

  return {
    add(caller: Caller | null, hash: BlobHash): void {
      if (caller?.session == null || caller.token === null) return
      const files = stored.get(caller.token) ?? new Set<BlobHash>()
      stored.delete(caller.token)
      files.delete(hash)
      stored.set(caller.token, files.add(hash)) // the newest is last
      dropOldest(files, filesMax)
      dropOldest(stored, tokensMax)
    },

    /** Returns a fault if a file of the command is neither the caller's nor in the session. It is the same if there is none. */
    async findForeign(caller: Caller | null, session: SessionHandle, command: Command): Promise<Fault | null> {
      if (caller?.session == null) return null
      const own = caller.token === null ? undefined : stored.get(caller.token)
      for (const { blob, name } of filesOf(command)) {
        if (own?.has(blob) || (await holds(session, blob))) continue
        return fault('blob_not_found', `The file ${name ?? blob} is not stored here. Store it again.`, { blob })
      }
      return null
    },
  }
}

type FilePart = Extract<Content[number], { readonly type: 'file' }>

/** Returns the files that a command names. */
function filesOf(command: Command): readonly FilePart[] {
  const contents: readonly (Content | string)[] =
    'messages' in command
      ? command.messages.map(({ content }) => content)
      : 'content' in command
        ? [command.content]
        : []
  return contents.flatMap((content) =>
    typeof content === 'string' ? [] : content.flatMap((part) => (part.type === 'file' ? [part] : [])),
  )
}

/** Returns whether a record of the session names the blob. One that is damaged counts: the session then says so. */
async function holds(session: SessionHandle, hash: BlobHash): Promise<boolean> {
  const opened = await session.blob(hash)
  if (!opened.ok) return opened.fault.code !== 'blob_not_found'
  for await (const _ of opened.value) break // closes the file
  return true
}

function dropOldest<Key>(all: Map<Key, unknown> | Set<Key>, max: number): void {
  for (const key of all.keys()) {
    if (all.size <= max) return
    all.delete(key)
  }
}
