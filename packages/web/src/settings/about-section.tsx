import { type Fault, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { useState } from 'react'
import { attempt, useServer } from '../models/server-context.ts'
import { forgetPrivate } from '../screens/login.ts'
import { useComebacks } from '../screens/needs-server.tsx'
import { bytesText, counted } from '../text/format.ts'
import { FaultNote } from '../ui/elements.tsx'
import { useLoaded } from '../ui/use-loaded.ts'
import { Section } from './section.tsx'

/** The version of the server, how its store is, and the end of this login. */
export function AboutSection({ isAdmin }: { readonly isAdmin: boolean }) {
  const { holdfast } = useServer()
  const comebacks = useComebacks()
  const { value: health, fault: away } = useLoaded(() => attempt(() => holdfast.health()), [holdfast, comebacks])
  const { value: ready } = useLoaded(readReady, [comebacks])
  const { value: stats, fault: uncounted } = useLoaded(
    async () => (isAdmin ? attempt(() => holdfast.stats({ days: 1 })) : ok(null)),
    [holdfast, isAdmin, comebacks],
  )
  const [refused, setRefused] = useState<Fault | null>(null)
  const logOut = async () => {
    const out = await attempt(() => holdfast.logOut())
    if (!out.ok) return setRefused(out.fault)
    forgetPrivate([localStorage, sessionStorage])
    location.reload() // to the screen that says how to log in
  }
  return (
    <Section title="About">
      <FaultNote fault={refused ?? away ?? uncounted} />
      <dl className="settings-facts">
        <Fact name="Version" text={health ? `Holdfast ${health.version}` : 'not known yet'} />
        <Fact
          name="Store"
          text={
            ready === null
              ? 'not known yet'
              : ready
                ? 'works: it accepts writes'
                : 'does not accept writes. Run holdfast doctor on the server.'
          }
        />
        {stats && (
          <>
            <Fact
              name="Sessions"
              text={`${counted(stats.sessions.listed, 'session')}, ${stats.sessions.trashed} in the trash`}
            />
            <Fact
              name="Size"
              text={`${bytesText(stats.store.recordBytes + stats.store.indexBytes)} of records, ${bytesText(stats.store.blobBytes)} of files`}
            />
          </>
        )}
      </dl>
      <button type="button" onClick={() => void logOut()}>
        Log out
      </button>
    </Section>
  )
}

/** Returns whether the server is ready. Refused: unreachable, which the note above says already. */
const readReady = (): Promise<Result<boolean>> =>
  fetch('/v1/ready').then(
    (answer) => ok(answer.ok),
    () => refuse(fault('unreachable', 'The server does not respond.')),
  )

const Fact = ({ name, text }: { readonly name: string; readonly text: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{text}</dd>
  </div>
)
