import type { RemoteHoldfast } from '@holdfast/client'
import { escapeLine, HoldfastError, type ImportResult, limits, type Meta, pairImportFiles } from '@holdfast/protocol'
import { counted, isBusy } from '../text/format.ts'
import { goTo, parseRoute } from '../ui/route.ts'
import { showToast } from '../ui/toast.tsx'

export const exportFormats = [
  ['md', 'Markdown'],
  ['html', 'HTML'],
  ['json', 'JSON'],
  ['jsonl', 'JSONL, to import again'],
] as const
export type ExportFormat = (typeof exportFormats)[number][0]

/** What of a session the actions need. */
export type ActionTarget = Pick<Meta, 'id' | 'title' | 'handle' | 'pinned' | 'status' | 'attachments'>

/** A file of this size takes so long that the page says what it does. */
const slowBytes = 2_000_000

const nameOf = ({ title, handle }: ActionTarget): string => `“${escapeLine(title) || handle}”`

/** Runs an action, and says why it was refused. */
export async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    showToast({ text: escapeLine(error.message), isBad: true })
  }
}

/** Returns whether a session is the one on screen. */
export function isOnScreen({ id, handle }: Pick<Meta, 'id' | 'handle'>): boolean {
  const route = parseRoute(location.hash)
  return route.at === 'session' && (route.name === id || route.name === handle)
}

export type SessionActions = ReturnType<typeof createSessionActions>

type ActionEvents = {
  /** Gets what undoes the last delete, or null once it is undone. */
  readonly onUndo: (undo: (() => void) | null) => void
  /** Called when sessions were imported: no news says so. */
  readonly onImported: () => void
}

/** Creates what a person can do with a session from the list, its menu and the palette. */
export function createSessionActions(holdfast: RemoteHoldfast, { onUndo, onImported }: ActionEvents) {
  const restore = (target: ActionTarget, isOpened: boolean) =>
    attempt(async () => {
      await holdfast.restore(target.id)
      showToast({ text: `${nameOf(target)} is back.` })
      if (isOpened) goTo({ at: 'session', name: target.id })
    })

  const remove = (target: ActionTarget, isForced = false): Promise<void> =>
    attempt(async () => {
      const isShown = isOnScreen(target)
      // This tab is attached to the session that it shows; that alone must not keep it.
      const isOwn = () => isOnScreen(target) && target.attachments <= 1 && !isBusy(target.status)
      try {
        await holdfast.delete(target.id, { force: isForced || isOwn() })
      } catch (error) {
        const code = error instanceof HoldfastError ? error.code : ''
        if (code === 'session_in_use' && !isForced && !isShown && isOwn()) return remove(target, true) // opened meanwhile
        const why = keptText[code]
        if (why === undefined) throw error
        const text = `${nameOf(target)} was not moved to the trash: ${why}.`
        const action = { name: 'Stop it and move it', onChoose: () => void remove(target, true) }
        showToast({ text, action })
        return
      }
      if (isOnScreen(target)) goTo({ at: 'new' })
      const undo = () => {
        close()
        onUndo(null)
        void restore(target, isShown)
      }
      onUndo(undo)
      const close = showToast({
        text: `${nameOf(target)} was moved to the trash.`,
        action: { name: 'Undo', onChoose: undo },
      })
    })

  return {
    remove,
    restore: (target: ActionTarget) => restore(target, false),
    rename: (target: ActionTarget, title: string) =>
      attempt(async () => void (await holdfast.rename(target.id, title))),
    pin: (target: ActionTarget) => attempt(async () => void (await holdfast.pinSession(target.id, !target.pinned))),
    fork: (target: ActionTarget) =>
      attempt(async () => {
        const made = await holdfast.fork(target.id)
        goTo({ at: 'session', name: made.id })
        showToast({ text: `This is a fork of ${nameOf(target)}, with the same history.` })
      }),
    export(target: ActionTarget, format: ExportFormat): void {
      const link = document.createElement('a')
      const name = encodeURIComponent(target.title || target.handle)
      link.href = `/v1/sessions/${target.id}/export?format=${format}&name=${name}`
      link.download = ''
      link.click()
    },
    purge: (target: ActionTarget) =>
      attempt(async () => {
        await holdfast.purge(target.id)
        showToast({ text: `${nameOf(target)} was deleted permanently.` })
      }),
    emptyTrash: () =>
      attempt(async () => {
        const { count } = await holdfast.emptyTrash()
        showToast({ text: `${counted(count, 'session')} deleted permanently.` })
      }),
    /** Imports sessions from files, one after the other. */
    importFiles: (files: readonly File[]) =>
      attempt(async () => {
        const large = files.find(({ size }) => size > limits.importBytesMax)
        if (large) {
          const text = `${escapeLine(large.name)} is too large for the page. Import it with \`holdfast import\`.`
          showToast({ text, isBad: true })
          return
        }
        const results: ImportResult[] = []
        const pairs = pairImportFiles(files)
        const read = async (file: File) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })
        for (const [index, { file, companion }] of pairs.entries()) {
          if (file.size > slowBytes)
            showToast({ text: `Importing ${escapeLine(file.name)} (${index + 1} of ${pairs.length})…` })
          const given = await Promise.all([file, companion].filter((one) => one !== undefined).map(read))
          results.push(...(await holdfast.import(given)))
        }
        onImported()
        showToast(importToast(results))
      }),
  }
}

/** Why a session was kept. `force` deletes it anyway. */
const keptText: { readonly [code: string]: string } = {
  turn_running: 'it is running or waits for an approval',
  session_in_use: 'it is open in another place',
}

function importToast(results: readonly ImportResult[]) {
  const done = results.filter(({ session }) => session !== null)
  const isKnown = done.length > 0 && done.every(({ status }) => status === 'same')
  const [first] = done
  const failed = results.length - done.length
  if (first?.session == null) {
    const why = results[0]?.fault?.message ?? results[0]?.remarks[0]?.what
    return { text: `Nothing was imported. ${why ? escapeLine(why) : 'The file holds no session.'}`, isBad: true }
  }
  const name = first.session
  return {
    text: isKnown
      ? `Already here: ${counted(done.length, 'session')}. Nothing changed.`
      : `${counted(done.length, 'session')} imported${failed > 0 ? `, ${failed} not` : ''}.`,
    action: { name: 'Open', onChoose: () => goTo({ at: 'session', name }) },
  }
}
