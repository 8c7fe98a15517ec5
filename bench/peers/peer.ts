/** What every program is given to keep. */
export type Said = { readonly role: 'user' | 'assistant'; readonly text: string }

/** What is true of a message once its append has come back. */
export type Keeping = 'synced' | 'written' | 'in memory'

/** A program that keeps conversations. Its library is loaded before a clock starts. */
export interface Peer {
  readonly name: string
  readonly keeps: Keeping
  /** Takes up what lies in the directory, as a program does when it starts. */
  open(dir: string): Promise<OpenPeer>
  /** It has no list and no search of its own: what stands for them goes over all it holds, and is no rival. */
  readonly finds?: false
}

export interface OpenPeer {
  /** A new session that takes one message after another. */
  begin(): Promise<Appending>
  /** Writes a whole session by the quickest way there is, and returns what it is opened by. */
  write(said: readonly Said[]): Promise<string>
  /** From nothing of the session in memory to ready for the next prompt. */
  resume(name: string): Promise<unknown>
  /** Keeps nothing of a resumed session in memory; those who hold nothing beside what `resume` gave need not be told. */
  letGo?(name: string): Promise<void>
  /** Every message of the session; returns how many. */
  readAll(name: string): Promise<number>
  /** What stands in the first rows of a list of all sessions, newest first, and how many there are. */
  list(rows: number): Promise<readonly string[]>
  /** In how many places the word is found, of which at most `limit` are counted. */
  search(word: string, limit: number): Promise<number>
  close(): Promise<void>
}

export interface Appending {
  /** Comes back when the message is kept, as far as the program keeps it. */
  append(said: Said): Promise<void> | void
  /** Hands a message over and goes on. */
  add(said: Said): Promise<void> | void
  /** Comes back when all that was handed over is kept. */
  save(): Promise<void>
}

/** For a program that knows only one way to append. */
export const inOneWay = (append: Appending['append']): Appending => ({
  append,
  add: append,
  save: async () => undefined,
})

/** The library of a peer, which only bench/ has installed: so the compiler cannot know it, and we say what we use of it. */
export async function loadPeer<Library>(specifier: string): Promise<Library> {
  return (await import(specifier)) as Library
}
