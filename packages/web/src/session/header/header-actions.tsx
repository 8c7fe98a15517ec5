import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'

/**
 * The menus of the header. On a phone the header has one row, and they open from one button; elsewhere they stand in the
 * header, and this button is hidden.
 */
export function HeaderActions({ children }: { readonly children: ReactNode }) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!isOpen) return
    const onPress = ({ target }: PointerEvent) => {
      const isInside = target instanceof Element && target.closest('.header-more, .header-actions, .popup, .dialog')
      if (!isInside) setOpen(false)
    }
    addEventListener('pointerdown', onPress)
    return () => removeEventListener('pointerdown', onPress)
  }, [isOpen])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !isOpen || !(event.target instanceof Element)) return
    if (event.target.closest('.popup, .dialog')) return // it closes itself
    event.preventDefault() // it stops no turn
    setOpen(false)
    button.current?.focus()
  }
  return (
    <section className="header-tools" aria-label="Menus" onKeyDown={onKeyDown}>
      <div id={id} className={isOpen ? 'header-actions open' : 'header-actions'}>
        {children}
      </div>
      <button
        ref={button}
        type="button"
        className="quiet icon-button header-more"
        aria-label="Session actions"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <svg className="dots" viewBox="0 0 16 16" aria-hidden="true">
          <path d="M3.500 8h.01M8 8h.01M12.500 8h.01" />
        </svg>
      </button>
    </section>
  )
}
