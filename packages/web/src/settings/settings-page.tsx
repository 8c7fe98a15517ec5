import { type Access, escapeLine } from '@holdfast/protocol'
import { useEffect } from 'react'
import { ownsServer, useServer, useServerFacts } from '../models/server-context.ts'
import { NeedsServer, useComebacks } from '../screens/needs-server.tsx'
import { useTabTitle } from '../screens/use-tab-title.ts'
import { ListButton } from '../ui/elements.tsx'
import { AboutSection } from './about-section.tsx'
import { AppearanceSection, NotificationSection } from './browser-sections.tsx'
import { ModelSection } from './model-section.tsx'
import { PermissionSection } from './permission-section.tsx'
import { RetentionSection } from './retention-section.tsx'
import { TokenSection } from './token-section.tsx'

/** The settings: those of this browser, and for an admin those of the server. */
export function SettingsPage({ onOpenList }: { readonly onOpenList: () => void }) {
  useTabTitle('Settings', false)
  const server = useServer()
  const { access } = useServerFacts()
  const comebacks = useComebacks()
  useEffect(() => {
    if (comebacks > 0) void server.load(true)
  }, [server, comebacks])
  const isAdmin = access?.role === 'admin'
  const isOwner = ownsServer(access) === true
  return (
    <main className="settings">
      <header className="page-head">
        <ListButton onOpen={onOpenList} />
        <h1>Settings</h1>
      </header>
      <AppearanceSection />
      <NotificationSection />
      <NeedsServer>
        <ModelSection isAdmin={isOwner} />
        {isAdmin && (
          <>
            {isOwner && <PermissionSection />}
            <TokenSection />
            <RetentionSection />
          </>
        )}
      </NeedsServer>
      <AboutSection isAdmin={isOwner} />
      {access !== null && !isOwner && <p className="settings-note">{whoSeesMore(access)}</p>}
    </main>
  )
}

const whoSeesMore = ({ role, tenant }: Access): string =>
  role === 'admin' && tenant !== undefined
    ? `You are an admin of ${escapeLine(tenant)}. Keys, the default model and permission rules apply to the whole server, and its admin sets them.`
    : 'An admin of this server sees more settings.'
