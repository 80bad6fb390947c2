-- What tree-sitter calls the text at a place. Only Neovim 0.9 and later tell.
local M = {}

-- Capture names at `line` and `byte` (from 1), the outermost first; empty when
-- tree-sitter does not colour this buffer.
function M.captures(line, byte)
  local treesitter = vim.treesitter
  local buffer = vim.api.nvim_get_current_buf()
  if not (treesitter and treesitter.get_captures_at_pos and treesitter.highlighter
      and treesitter.highlighter.active[buffer]) then
    return {}
  end
  local ok, found = pcall(treesitter.get_captures_at_pos, buffer, line - 1, byte - 1)
  local names = {}
  for _, one in ipairs(ok and found or {}) do
    names[#names + 1] = '@' .. one.capture
  end
  return names
end

return M
