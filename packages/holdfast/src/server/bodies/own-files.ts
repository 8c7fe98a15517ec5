import type { Tenants } from '@holdfast/core/ports'
import {
  type BlobHash,
  type Command,
  type Content,
  done,
  type Fault,
  fault,
  type Result,
  type SessionHandle,
} from '@holdfast/protocol'
import type { Caller } from '../auth/access.ts'

const tokensMax = 256
const filesMax = 256

export type OwnFiles = ReturnType<typeof createOwnFiles>

/**
 * Remembers which files the tokens for one session stored, and those of a tenant, so that such a token can name these and
 * the files of the session in a prompt, but no others. What is forgotten is stored again.
 */
export function createOwnFiles(ofTenants: Tenants | null = null) {
  const stored = new Map<string, Set<BlobHash>>()

  const isOwn = async ({ token, session, tenant }: Caller, hash: BlobHash): Promise<boolean> => {
    if (session !== null) return token !== null && stored.get(token)?.has(hash) === true
    return tenant === null || (await ofTenants?.hasFile(tenant, hash)) === true
  }

  return {
    async add(caller: Caller | null, hash: BlobHash): Promise<Result<void>> {
      if (caller === null || caller.token === null) return done
      if (caller.tenant !== null && ofTenants) {
        const added = await ofTenants.addFile(caller.tenant, hash)
        if (!added.ok) return added
      }
      if (caller.session === null) return done
      const files = stored.get(caller.token) ?? new Set<BlobHash>()
      stored.delete(caller.token)
      files.delete(hash)
      stored.set(caller.token, files.add(hash)) // the newest is last
      dropOldest(files, filesMax)
      dropOldest(stored, tokensMax)
      return done
    },

    /**
     * Returns a fault if a file of a command is neither the caller's nor in the session, which is null for one that starts.
     * It is the same if there is no such file.
     */
    async findForeign(
      caller: Caller | null,
      session: SessionHandle | null,
      command: NamesFiles,
    ): Promise<Fault | null> {
      if (caller === null || (caller.session === null && caller.tenant === null)) return null
      for (const { blob, name } of filesOf(command)) {
        if ((await isOwn(caller, blob)) || (session && (await holds(session, blob)))) continue
        return fault('blob_not_found', `The file ${name ?? blob} is not stored here. Store it again.`, { blob })
      }
      return null
    },
  }
}

type NamesFiles = Command | { readonly messages?: readonly { readonly content: Content | string }[] | undefined }
type FilePart = Extract<Content[number], { readonly type: 'file' }>

/** Returns the files that a command names. */
function filesOf(command: NamesFiles): readonly FilePart[] {
  const contents: readonly (Content | string)[] =
    'messages' in command && command.messages
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
