import { useServerFacts } from '../models/server-context.ts'
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
  const { access } = useServerFacts()
  const isAdmin = access?.role === 'admin'
  return (
    <main className="settings">
      <header className="page-head">
        <ListButton onOpen={onOpenList} />
        <h1>Settings</h1>
      </header>
      <AppearanceSection />
      <NotificationSection />
      <ModelSection isAdmin={isAdmin} />
      {isAdmin && (
        <>
          <PermissionSection />
          <TokenSection />
          <RetentionSection />
        </>
      )}
      <AboutSection isAdmin={isAdmin} />
      {access !== null && !isAdmin && <p className="settings-note">An admin of this server sees more settings.</p>}
    </main>
  )
}
