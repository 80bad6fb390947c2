-- Running a command with a buffer that has no window as the current one.
local M = {}

function M.execute(nr, command)
  vim.api.nvim_buf_call(nr, function()
    vim.fn['vim_mcp#quiet#Inner'](command)
  end)
end

return M
