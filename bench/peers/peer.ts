/** A message that every program stores. */
export type PeerMessage = { readonly role: 'user' | 'assistant'; readonly text: string }

/** How durable a message is when its append resolves. */
export type Durability = 'synced' | 'written' | 'in memory'

/** A program that stores conversations. Its library is loaded before the clock starts. */
export interface Peer {
  readonly name: string
  readonly durability: Durability
  /** Opens the sessions in the directory, as the program does at start. */
  open(dir: string): Promise<OpenPeer>
  /** False if it has no list and no search of its own. Ours read all messages then, and there is no goal. */
  readonly hasSearch?: false
}

export interface OpenPeer {
  /** Starts a session for appending. */
  begin(): Promise<Appending>
  /** Writes a whole session in the fastest way and returns its name. */
  write(messages: readonly PeerMessage[]): Promise<string>
  /** Loads a session that is not in memory until it is ready for a prompt. */
  resume(name: string): Promise<unknown>
  /** Unloads a resumed session. Needed only by programs that hold it in memory. */
  unload?(name: string): Promise<void>
  /** Reads every message of a session and returns their number. */
  readAll(name: string): Promise<number>
  /** Returns the first rows of the list of sessions, newest first. */
  list(rows: number): Promise<readonly string[]>
  /** Returns the number of matches, at most `limit`. */
  search(word: string, limit: number): Promise<number>
  close(): Promise<void>
}

export interface Appending {
  /** Resolves when the message is stored, with the durability of the program. */
  append(message: PeerMessage): Promise<void> | void
  /** Sends a message without waiting until it is stored. */
  add(message: PeerMessage): Promise<void> | void
  /** Resolves when all messages added are stored. */
  save(): Promise<void>
}

/** Returns the interface for a program that has only one way to append. */
export const withoutBatches = (append: Appending['append']): Appending => ({
  append,
  add: append,
  save: async () => undefined,
})

/** Imports a peer's library. It is installed only in bench/, so the compiler has no types and the caller declares them. */
export async function loadPeer<Library>(specifier: string): Promise<Library> {
  return (await import(specifier)) as Library
}
