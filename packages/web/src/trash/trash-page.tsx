import type { RemoteSessions } from '@holdfast/client'
import { escapeLine, type Fault, type Meta } from '@holdfast/protocol'
import { useCallback, useEffect, useState } from 'react'
import { useActions } from '../actions/actions.tsx'
import { titleOf } from '../list/related-sessions.ts'
import { useIsLost, useScreens } from '../screens/use-screens.ts'
import { useTabTitle } from '../screens/use-tab-title.ts'
import { agoText, baseName, counted, relativeTime } from '../text/format.ts'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { FaultNote, ListButton } from '../ui/elements.tsx'
import { useNow } from '../ui/use-now.ts'

type TrashPageProps = { readonly sessions: RemoteSessions; readonly onOpenList: () => void }

type Asked = { readonly about: 'all' } | { readonly about: 'one'; readonly meta: Meta } | null

/** The sessions that were deleted: restores them, or deletes them permanently. */
export function TrashPage({ sessions, onOpenList }: TrashPageProps) {
  useTabTitle('Trash', false)
  const nowMs = useNow()
  const isLost = useIsLost()
  const { restore, purge, emptyTrash } = useActions()
  const trash = useTrash(sessions)
  const [asked, setAsked] = useState<Asked>(null)
  const after = (work: Promise<void>) => void work.then(trash.reload)
  return (
    <main className="trash">
      <header className="page-head">
        <ListButton onOpen={onOpenList} />
        <h1>Trash</h1>
        {trash.rows !== null && trash.rows.length > 0 && (
          <button type="button" disabled={isLost} onClick={() => setAsked({ about: 'all' })}>
            Empty the trash…
          </button>
        )}
      </header>
      <p className="trash-note">Sessions stay here for 30 days. Then they are deleted permanently.</p>
      <FaultNote fault={trash.fault} />
      {trash.rows?.length === 0 && <p className="empty">The trash is empty.</p>}
      <ul aria-label="Sessions in the trash">
        {trash.rows?.map((meta) => (
          <li key={meta.id}>
            <div>
              <p className="row-title">{titleOf(meta)}</p>
              <p className="trash-about">
                {escapeLine(baseName(meta.workspace)) || 'no folder'} · {counted(meta.messageCount, 'message')}
                {meta.trashedAt && ` · deleted ${agoText(relativeTime(meta.trashedAt, nowMs))}`}
              </p>
            </div>
            <button type="button" disabled={isLost} onClick={() => after(restore(meta))}>
              Restore
            </button>
            <button
              type="button"
              className="quiet danger"
              disabled={isLost}
              onClick={() => setAsked({ about: 'one', meta })}
            >
              Delete permanently…
            </button>
          </li>
        ))}
      </ul>
      {trash.hasMore && (
        <button type="button" className="quiet" onClick={trash.loadMore}>
          Show more
        </button>
      )}
      {asked && (
        <ConfirmDialog
          isOff={isLost}
          title={asked.about === 'all' ? 'Empty the trash?' : 'Delete this session permanently?'}
          confirm="Delete permanently"
          isDanger
          onConfirm={() => after(asked.about === 'all' ? emptyTrash() : purge(asked.meta))}
          onClose={() => setAsked(null)}
        >
          <p>Nothing brings it back.</p>
        </ConfirmDialog>
      )}
    </main>
  )
}

type Loaded = { readonly rows: readonly Meta[] | null; readonly next: string | null; readonly fault: Fault | null }

/** Loads the trash, and again when a session is removed or restored. */
function useTrash(sessions: RemoteSessions) {
  const screens = useScreens()
  const [{ rows, next, fault }, setLoaded] = useState<Loaded>({ rows: null, next: null, fault: null })
  const load = useCallback(
    async (cursor: string | undefined) => {
      const answer = await sessions.list({ trashed: true, limit: 100, cursor })
      setLoaded((before) => {
        if (!answer.ok) return { ...before, fault: answer.fault }
        const earlier = cursor === undefined ? [] : (before.rows ?? [])
        return { rows: [...earlier, ...answer.value.sessions], next: answer.value.next, fault: null }
      })
    },
    [sessions],
  )
  const reload = useCallback(() => void load(undefined), [load])
  useEffect(() => {
    reload()
    return screens.follow({
      onNews: ({ type }) => (type === 'session.removed' || type === 'session.restored') && reload(),
      onMissed: reload,
    })
  }, [screens, reload])
  return { rows, fault, hasMore: next !== null, loadMore: () => void load(next ?? undefined), reload }
}
