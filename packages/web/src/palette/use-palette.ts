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
  readonly sessions: readonly Meta[]
  readonly hits: FoundMessages['hits']
  readonly isBusy: boolean
  readonly fault: Fault | null
}
const nothing: Found = { sessions: [], hits: [], isBusy: true, fault: null }

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
        sessions: listed.ok ? titlesFirst(listed.value.sessions, words) : [],
        hits: said?.ok ? said.value.hits : [],
        ...{ isBusy: false, fault },
      })
    }
    const timer = isLost ? undefined : setTimeout(() => void ask(), words === '' ? 0 : typingMs)
    return () => {
      isLeft = true
      clearTimeout(timer)
    }
  }, [sessions, words, isLost])
  return { groups: groupsOf(commandsFor(names, words), found, words !== ''), isBusy: found.isBusy, fault: found.fault }
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

function groupsOf(commands: readonly PaletteEntry[], found: Found, isSearch: boolean): readonly PaletteGroup[] {
  const groups: readonly PaletteGroup[] = [
    {
      label: isSearch ? 'Sessions' : 'Recent sessions',
      items: found.sessions.map((meta) => ({ kind: 'session', meta })),
    },
    { label: 'Commands', items: commands },
    { label: 'Messages', items: found.hits.map((hit) => ({ kind: 'message', hit })) },
  ]
  return groups.filter(({ items }) => items.length > 0)
}
