import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import type { RemoteSessions } from '@holdfast/client'
import { escapeLine } from '@holdfast/protocol'
import { useState } from 'react'
import { Keys } from '../keys/key-hint.tsx'
import { runKey } from '../keys/use-key.ts'
import { titleOf } from '../list/related-sessions.ts'
import { useIsLost } from '../screens/use-screens.ts'
import { baseName, oneLine, relativeTime, statusText } from '../text/format.ts'
import { Snippet } from '../text/snippet.tsx'
import { goTo } from '../ui/route.ts'
import { useNow } from '../ui/use-now.ts'
import { entryKey, type PaletteEntry, type PaletteGroup, usePalette } from './use-palette.ts'

type PaletteProps = { readonly sessions: RemoteSessions; readonly onClose: () => void }

/** Finds sessions, messages and commands by a few letters. Enter does what is marked. */
export function Palette({ sessions, onClose }: PaletteProps) {
  const [isOpen, setOpen] = useState(true)
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<PaletteEntry | null>(null)
  const isLost = useIsLost()
  const { groups, isBusy, fault } = usePalette(sessions, text, isLost)
  const choose = (entry: PaletteEntry) => {
    setChosen(entry)
    setOpen(false)
  }
  // A command may open a dialog, so that this one is gone first.
  const onClosed = () => {
    onClose()
    if (chosen) runEntry(chosen)
  }
  return (
    <Dialog.Root
      open={isOpen}
      onOpenChange={(open) => !open && setOpen(false)}
      onOpenChangeComplete={(open) => !open && onClosed()}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className="dialog-backdrop" forceRender />
        <Dialog.Popup className="dialog palette" aria-label="Search everything" finalFocus={chosen === null}>
          <Autocomplete.Root
            items={groups}
            value={text}
            onValueChange={(next, { reason }) => reason !== 'item-press' && setText(next)}
            mode="none"
            inline
            open
            autoHighlight="always"
            keepHighlight
            itemToStringValue={entryKey}
          >
            <Autocomplete.Input
              className="palette-input"
              aria-label="Search sessions, messages and commands"
              placeholder="Sessions, messages, commands"
              spellCheck={false}
              autoCapitalize="off"
            />
            <p className="palette-note" role="status">
              {noteOf(
                groups,
                isBusy,
                isLost ? 'The connection is lost. Only commands are found.' : (fault?.message ?? null),
              )}
            </p>
            <Autocomplete.List className="palette-list">
              {(group: PaletteGroup) => (
                <Autocomplete.Group key={group.label} items={group.items} className="palette-group">
                  <Autocomplete.GroupLabel className="menu-label">{group.label}</Autocomplete.GroupLabel>
                  <Autocomplete.Collection>
                    {(entry: PaletteEntry) => (
                      <Autocomplete.Item
                        key={entryKey(entry)}
                        className="option palette-option"
                        value={entry}
                        onClick={() => choose(entry)}
                      >
                        <EntryText entry={entry} search={text} />
                      </Autocomplete.Item>
                    )}
                  </Autocomplete.Collection>
                </Autocomplete.Group>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function noteOf(groups: readonly PaletteGroup[], isBusy: boolean, problem: string | null): string {
  if (problem !== null) return escapeLine(problem)
  if (groups.length > 0) return ''
  return isBusy ? 'Searching…' : 'Nothing found. Try fewer or other words.'
}

function runEntry(entry: PaletteEntry): void {
  if (entry.kind === 'command') runKey(entry.name)
  else if (entry.kind === 'session') goTo({ at: 'session', name: entry.meta.id })
  else goTo({ at: 'session', name: entry.hit.sessionId, message: entry.hit.messageId })
}

function EntryText({ entry, search }: { readonly entry: PaletteEntry; readonly search: string }) {
  const nowMs = useNow()
  switch (entry.kind) {
    case 'command':
      return (
        <>
          <span className="option-name">{entry.text}</span>
          {entry.keys !== undefined && <Keys combination={entry.keys} />}
        </>
      )
    case 'session': {
      const { meta } = entry
      const status = meta.waiting === undefined ? statusText(meta.status) : 'Waits for your approval'
      return (
        <>
          <span
            className={`dot ${meta.waiting === undefined ? meta.status : 'asked'}`}
            role="img"
            aria-label={status}
          />
          <span className="option-name">{titleOf(meta)}</span>
          <span className="option-about">
            {escapeLine(baseName(meta.workspace))} · {relativeTime(meta.lastMessageAt, nowMs)}
          </span>
        </>
      )
    }
    case 'message':
      return (
        <>
          <span className="option-name">{escapeLine(entry.hit.title) || 'New session'}</span>
          <span className="option-about">{relativeTime(entry.hit.at, nowMs)}</span>
          <span className="option-snippet">
            <Snippet text={oneLine(entry.hit.snippet)} search={search} />
          </span>
        </>
      )
  }
}
