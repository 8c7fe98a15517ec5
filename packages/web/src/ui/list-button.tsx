type ListButtonProps = { readonly onOpen: () => void }

/** Opens the drawer that holds the list on a narrow screen; a wide one shows the list and hides this. */
export function ListButton({ onOpen }: ListButtonProps) {
  return (
    <button type="button" className="list-button quiet" aria-label="Show the list" onClick={onOpen}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M3 5.500h14M3 10h14M3 14.500h14" />
      </svg>
    </button>
  )
}
