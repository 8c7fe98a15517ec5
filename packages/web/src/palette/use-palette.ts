import type { RemoteSessions } from '@holdfast/client'
import type { Fault, FoundMessages, Meta } from '@holdfast/protocol'
import { useEffect, useState } from 'react'
import { type KeyName, keyEntry } from '../keys/key-table.ts'
import { useAvailableKeys } from '../keys/use-key.ts'
import { withBeginning } from '../text/search-words.ts'

/** Something that the palette offers. */
export type PaletteEntry =
  | { readonly kind: 'command'; readonly name: KeyName; readonly text: string; readonly keys: string | undefined }
  | { readonly kind: 'session'; readonly meta: Meta }
  | { readonly kind: 'message'; readonly hit: FoundMessages['hits'][number] }

export type PaletteGroup = { readonly label: string; readonly items: readonly PaletteEntry[] }

/** Returns a text that no other entry has. */
export function entryKey(entry: PaletteEntry): string {
  switch (entry.kind) {
    case 'command':
      return entry.name
    case 'session':
      return entry.meta.id
    case 'message':
      return `${entry.hit.sessionId} ${entry.hit.messageId}`
  }
}

const typingMs = 120
const shownMax = 8

type Found = {
  /** The words that the server was asked for. */
  readonly words: string
  readonly sessions: readonly Meta[]
  readonly hits: FoundMessages['hits']
  readonly isBusy: boolean
  readonly fault: Fault | null
}
const nothing: Found = { words: '', sessions: [], hits: [], isBusy: true, fault: null }

/** Finds commands at once, and sessions and messages as soon as the server answers. */
export function usePalette(sessions: RemoteSessions, text: string, isLost: boolean) {
  const [found, setFound] = useState(nothing)
  const names = useAvailableKeys()
  const words = text.trim()
  useEffect(() => {
    let isLeft = false
    setFound((before) => (isLost ? { ...nothing, isBusy: false } : { ...before, isBusy: true }))
    const ask = async () => {
      const [listed, said] = await Promise.all([
        sessions.list({ limit: shownMax, ...(words !== '' && { search: words }) }),
        words.length < 2 ? null : sessions.search({ text: withBeginning(words), limit: shownMax }),
      ])
      if (isLeft) return
      const fault = !listed.ok ? listed.fault : said && !said.ok ? said.fault : null
      setFound({
        words,
        sessions: listed.ok ? titlesFirst(listed.value.sessions, words) : [],
        hits: said?.ok ? said.value.hits : [],
        isBusy: false,
        fault,
      })
    }
    const timer = isLost ? undefined : setTimeout(() => void ask(), words === '' ? 0 : typingMs)
    return () => {
      isLeft = true
      clearTimeout(timer)
    }
  }, [sessions, words, isLost])
  return {
    groups: groupsOf(commandsFor(names, words), stillFound(found, words), words),
    isBusy: found.isBusy,
    fault: found.fault,
  }
}

/** Returns what of an earlier answer has the words that are typed by now: Enter must not open anything else. */
export function stillFound(found: Found, text: string): Pick<Found, 'sessions' | 'hits'> {
  if (found.words === text) return found
  const words = text.toLowerCase().split(/\s+/)
  const hasAll = (shown: string) => words.every((word) => shown.toLowerCase().includes(word))
  return {
    sessions: found.sessions.filter(({ title }) => hasAll(title)),
    hits: found.hits.filter(({ title, snippet }) => hasAll(`${title} ${snippet}`)),
  }
}

/** Puts the sessions first whose titles have the text. */
export function titlesFirst(sessions: readonly Meta[], text: string): readonly Meta[] {
  const isIn = ({ title }: Meta) => title.toLowerCase().includes(text.toLowerCase())
  return [...sessions.filter(isIn), ...sessions.filter((meta) => !isIn(meta))]
}

/** Returns the commands that can be used now and have all the words, those first whose text begins with them. */
export function commandsFor(names: readonly KeyName[], text: string): readonly PaletteEntry[] {
  const words = text.toLowerCase().split(/\s+/)
  return names
    .map((name) => ({ name, entry: keyEntry(name) }))
    .filter(({ entry }) => !entry.isOutOfPalette && words.every((word) => entry.text.toLowerCase().includes(word)))
    .map(({ name, entry }) => ({ kind: 'command', name, text: entry.text, keys: entry.keys[0] }) as const)
    .sort((one, other) => Number(startsWith(other.text, text)) - Number(startsWith(one.text, text)))
}

const startsWith = (text: string, words: string): boolean => text.toLowerCase().startsWith(words.toLowerCase())

/** Groups what was found. Commands that begin with the text come first: no later answer of the server moves them. */
export function groupsOf(
  commands: readonly PaletteEntry[],
  { sessions, hits }: Pick<Found, 'sessions' | 'hits'>,
  text: string,
): readonly PaletteGroup[] {
  const [first] = commands
  const isCommand = text !== '' && first?.kind === 'command' && startsWith(first.text, text)
  const known = { label: 'Commands', items: commands }
  const listed: PaletteGroup = {
    label: text === '' ? 'Recent sessions' : 'Sessions',
    items: sessions.map((meta) => ({ kind: 'session', meta })),
  }
  const said: PaletteGroup = { label: 'Messages', items: hits.map((hit) => ({ kind: 'message', hit })) }
  return [...(isCommand ? [known, listed] : [listed, known]), said].filter(({ items }) => items.length > 0)
}
