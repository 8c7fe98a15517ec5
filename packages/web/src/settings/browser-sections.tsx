import { useState } from 'react'
import { askToNotify, isNotifyOff, type NotifyState, notifyState, setNotifyOff } from '../screens/notify.ts'
import { Switch } from '../ui/switch.tsx'
import { densities, setAppearance, themes, useAppearance } from './appearance.ts'
import { ChoiceRow, Section } from './section.tsx'

/** Theme and density of this browser. */
export function AppearanceSection() {
  const { theme, density, diagrams } = useAppearance()
  return (
    <Section title="Appearance" text="These apply to this browser.">
      <ChoiceRow label="Theme" values={themes} value={theme} onChange={(next) => setAppearance({ theme: next })} />
      <ChoiceRow
        label="Density"
        values={densities}
        value={density}
        onChange={(next) => setAppearance({ density: next })}
      />
      <Switch
        label="Draw diagrams in answers"
        text="Mermaid diagrams are drawn as they come. Otherwise each one has a button for it."
        isOn={diagrams === 'show'}
        onChange={(on) => setAppearance({ diagrams: on ? 'show' : 'source' })}
      />
    </Section>
  )
}

const texts: Readonly<Record<NotifyState, string>> = {
  ask: 'The browser asks you once.',
  on: 'You are told when no tab of this page is in sight.',
  off: 'This browser blocks them for this page. Allow them in its settings for this site.',
  missing: 'This browser cannot show them here. They need a desktop browser, and HTTPS or this machine.',
}

/** Whether the browser tells a person that a session waits. */
export function NotificationSection() {
  const [state, setState] = useState(notifyState)
  const [isOff, setOff] = useState(isNotifyOff)
  const change = async (on: boolean) => {
    setNotifyOff(!on)
    setOff(!on)
    if (on && state === 'ask') setState(await askToNotify())
  }
  return (
    <Section title="Notifications">
      <Switch
        label="Notify me when a session waits for me"
        text={texts[state]}
        isOn={state === 'on' && !isOff}
        isOff={state === 'off' || state === 'missing'}
        onChange={(on) => void change(on)}
      />
    </Section>
  )
}
